//! Lines that Rust's libtest prints for `#[bench]`, and criterion with `--output-format bencher`:
//! `test NAME ... bench:  1,234 ns/iter (+/- 56)`.

use assay_model::Better;

use crate::readers::prelude::*;

pub(super) fn detect(bytes: &[u8]) -> bool {
    head_has(bytes, |line| parts(line).is_some_and(|(_, result)| result.starts_with("bench:")))
}

/// Returns the name of a test and the text after `...`.
fn parts(line: &str) -> Option<(&str, &str)> {
    let (name, result) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    Some((name.trim(), result.trim()))
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let text = json::text(bytes);
    let mut suite = SuiteReader::of_programs("libtest", "libtest");
    for (_, line) in lines(&text) {
        let Some((name, result)) = parts(&line) else { continue };
        let Some(measured) = result.strip_prefix("bench:") else {
            if result.starts_with("FAILED") {
                suite.fail(name, "the benchmark failed")?;
            }
            continue;
        };
        let measured = measured.split(" (+/-").next().unwrap_or_default();
        let found = measured.trim().split_once(' ').and_then(|(n, u)| Some((number(n)?, u.trim())));
        let found = found.filter(|(_, unit)| !unit.starts_with(|c: char| c.is_ascii_digit()));
        let Some((value, printed)) = found else {
            suite.fail(name, &format!("`{}` is not a number with a unit", measured.trim()))?;
            continue;
        };
        let (value, unit) = match printed.strip_suffix("/iter") {
            Some(time) if unit::seconds(time).is_some() => unit::base(value, time),
            _ => (value, printed.to_owned()),
        };
        let better = match printed {
            rate if rate.ends_with("/s") => Better::Higher,
            _ => Better::Lower,
        };
        suite.add(
            name,
            &[(if unit == "s" { "time" } else { "value" }, Some(value), &unit, better)],
        )?;
    }
    suite.finish("a benchmark prints a line such as `test NAME ... bench: 1,234 ns/iter (+/- 56)`")
}
