//! The raw file (`.rsf`) of SPEC CPU, with one line per value:
//! `spec.cpu2017.results.505_mcf_r.base.000.ratio: 4.2`.

use std::collections::BTreeMap;

use crate::readers::file::error::Flaw;
use crate::readers::speccpu::{SpecResult, SpecRun};

/// Line prefixes of the supported suites.
const SUITES: [&str; 4] = ["spec.cpu2026.", "spec.cpu2017.", "spec.cpu2006.", "spec.cpu2000."];

/// True if this text looks like a raw file; the start of the file is enough.
pub fn detect(text: &str) -> bool {
    text.lines().any(|l| SUITES.iter().any(|s| l.starts_with(s)))
}

/// The fields of one run, each with its line.
type RunFields<'a> = BTreeMap<&'a str, (u64, &'a str)>;

/// Parses a raw file.
///
/// # Errors
/// The first error in the text, with its line.
pub fn read(text: &str) -> Result<SpecResult, Flaw> {
    let mut result = SpecResult::default();
    // By benchmark, tuning and number.
    let mut order: Vec<(&str, &str, &str)> = Vec::new();
    let mut runs: BTreeMap<(&str, &str, &str), RunFields<'_>> = BTreeMap::new();
    let mut top: RunFields<'_> = BTreeMap::new();
    for (i, line) in text.lines().enumerate() {
        let number = i as u64 + 1;
        let Some(suite) = SUITES.iter().find(|s| line.starts_with(**s)) else { continue };
        let rest = &line[suite.len()..];
        let Some((key, value)) = rest.split_once(": ").or(rest.split_once(':')) else {
            return Err(Flaw::line(number, "a line `spec....` has no `:` and value"));
        };
        let value = value.trim();
        match key.strip_prefix("results.") {
            None => {
                top.insert(key, (number, value));
            }
            Some(key) => {
                let mut parts = key.splitn(4, '.');
                let (Some(benchmark), Some(tune), Some(run), Some(field)) =
                    (parts.next(), parts.next(), parts.next(), parts.next())
                else {
                    continue; // facts about all runs of a benchmark
                };
                let of = (benchmark, tune, run);
                if !runs.contains_key(&of) {
                    order.push(of);
                }
                runs.entry(of).or_default().insert(field, (number, value));
            }
        }
    }
    for of in order {
        if let Some(fields) = runs.get(&of) {
            result.add(run(of, fields)?);
        }
    }
    if result.runs.is_empty() {
        return Err(Flaw::whole("it has no timed run of a benchmark"));
    }
    describe(&mut result, &top)?;
    Ok(result)
}

fn run(of: (&str, &str, &str), fields: &RunFields<'_>) -> Result<SpecRun, Flaw> {
    let number = |name: &str| number(fields, name);
    let time = match number("reported_time")? {
        Some(time) => Some(time),
        None => number("reported_sec")?
            .map(|s| Ok::<f64, Flaw>(s + number("reported_nsec")?.unwrap_or(0.0) * 1e-9))
            .transpose()?,
    };
    let mut parallel = None;
    for name in ["copies", "threads"] {
        if parallel.is_none() {
            parallel = number(name)?.map(|n| (name, n as i64));
        }
    }
    let word = |name: &str| fields.get(name).map(|(_, value)| (*value).to_owned());
    Ok(SpecRun {
        benchmark: word("benchmark").unwrap_or_else(|| of.0.replacen('_', ".", 1)),
        tune: of.1.to_owned(),
        time,
        ratio: match number("ratio")? {
            Some(ratio) => Some(ratio),
            None => number("rate")?,
        },
        parallel,
        selected: word("selected").as_deref() == Some("1"),
        status: word("valid").unwrap_or_else(|| "S".to_owned()),
        errors: errors(fields),
    })
}

/// Parses a number from 0; `None` if it is missing or `--`, as in a run without one.
fn number(fields: &RunFields<'_>, name: &str) -> Result<Option<f64>, Flaw> {
    match fields.get(name) {
        None | Some((_, "" | "--" | "NA" | "X")) => Ok(None),
        Some((line, value)) => match value.parse::<f64>() {
            Ok(v) if v.is_finite() && v >= 0.0 => Ok(Some(v)),
            _ => Err(Flaw::line(*line, format!("`{name}` is `{value}`, not a number from 0"))),
        },
    }
}

/// Returns the tools' error messages, which are in the lines `errors000`, `errors001`, ...
fn errors(fields: &RunFields<'_>) -> Vec<String> {
    let numbered = |key: &str| {
        key.strip_prefix("errors").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
    };
    let lines = fields.iter().filter(|(key, (_, value))| numbered(key) && !value.is_empty());
    lines.map(|(_, (_, value))| (*value).to_owned()).collect()
}

fn describe(result: &mut SpecResult, top: &RunFields<'_>) -> Result<(), Flaw> {
    let word = |name: &str| top.get(name).map(|(_, value)| *value);
    result.version = word("suitever").map(str::to_owned);
    for tune in ["base", "peak"] {
        if let Some(mean) = number(top, &format!("{tune}mean"))?.filter(|m| *m > 0.0) {
            let units = word(&format!("{tune}units")).unwrap_or("");
            let name = if units.is_empty() { format!("{tune} mean") } else { units.to_owned() };
            result.overall.push((name, mean));
        }
    }
    let with_prefix = |prefix: &str| {
        let of = |(k, (_, v)): (&&str, &(u64, &str))| ((*k).to_owned(), (*v).to_owned());
        let wanted = top.iter().filter(|(k, _)| k.starts_with(prefix));
        wanted.map(of).collect::<Vec<(String, String)>>()
    };
    // A value of several lines has keys that end in 000, 001, ...
    let mut facts: BTreeMap<String, String> = BTreeMap::new();
    for (key, value) in
        with_prefix("hw_").into_iter().chain(with_prefix("sw_")).chain(with_prefix("test_"))
    {
        let digits = key.len().saturating_sub(3);
        let numbered = key.is_char_boundary(digits)
            && key[digits..].len() == 3
            && key[digits..].bytes().all(|b| b.is_ascii_digit());
        let name = if numbered { key[..digits].to_owned() } else { key };
        let text = facts.entry(name).or_default();
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&value);
    }
    result.facts.extend(facts);
    for name in ["tester", "license_num", "size", "toolset"] {
        if let Some(value) = word(name) {
            result.facts.push((name.to_owned(), value.to_owned()));
        }
    }
    result.errors = errors(top);
    result.invalid = word("invalid").is_some_and(|v| v != "0" && !v.is_empty());
    result.estimate = word("reportable") == Some("0");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_the_tools_object_to_is_kept_in_their_words() {
        let text = "spec.cpu2026.reportable: 1\n\
                    spec.cpu2026.errors000: one\n\
                    spec.cpu2026.errors001: two\n\
                    spec.cpu2026.results.1_a.base.000.valid: VE\n\
                    spec.cpu2026.results.1_a.base.000.errors000: Output miscompare\n\
                    spec.cpu2026.results.2_b.base.000.valid: NR\n";
        let result = read(text).unwrap();
        assert_eq!(result.errors, ["one", "two"]);
        assert!(!result.estimate);
        assert_eq!(result.runs.len(), 1);
        assert_eq!((result.runs[0].benchmark.as_str(), result.runs[0].succeeded()), ("1.a", false));
        assert_eq!(result.runs[0].errors, ["Output miscompare"]);
    }

    proptest! {
        #[test]
        fn never_panics(rest in "[a-z0-9_.: \\n-]{0,60}", text in "\\PC{0,60}") {
            let text = format!("spec.cpu2017.{rest}\nspec.cpu2017.results.{text}");
            let _ = read(&text);
            let _ = crate::readers::speccpu::report::read(&format!("valid,1\n{text}"));
        }
    }
}
