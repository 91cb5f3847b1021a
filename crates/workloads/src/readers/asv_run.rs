//! Output of `asv run`: a line for each benchmark without parameters. The results folder of asv has
//! all benchmarks.

use assay_model::Better::{Lower, Neither};

use crate::readers::file::error::Flaw;
use crate::readers::file::json;
use crate::readers::file::lines::{head_has, lines, number, quantity};
use crate::readers::result::ForeignResult;
use crate::readers::result::suite::SuiteReader;

/// Returns the name and the result of `[ 35.00%] ··· benchmarks.Suite.time_x   11.1±0.01μs`.
fn row(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.strip_prefix('[')?.split_once("%] ")?;
    let (name, result) = rest.trim_start_matches(['·', ' ']).split_once("  ")?;
    (name.contains('.') && !name.contains(' ')).then_some((name, result.trim()))
}

pub(super) fn detect(bytes: &[u8]) -> bool {
    head_has(bytes, |line| row(line).is_some())
}

/// Returns the value of `11.1±0.01μs`, of `2.42k` (bytes or a count) or of `9.07ms`.
fn value(text: &str) -> Option<(f64, String)> {
    let (mean, unit) = match text.split_once('±') {
        Some((mean, rest)) => {
            let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
            (mean, &rest[digits..])
        }
        None => text
            .split_at(text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len())),
    };
    // asv prints the Greek letter mu, not the micro sign.
    let unit = unit.replace('μ', "µ");
    let thousands = ["", "k", "M", "G"].iter().position(|prefix| *prefix == unit);
    match thousands {
        Some(power) => Some((number(mean)? * 1000f64.powi(power as i32), "1".to_owned())),
        None => quantity(&format!("{mean} {unit}")),
    }
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let text = json::text(bytes);
    let mut suite = SuiteReader::new("asv", "asv-run");
    let mut environment = String::new();
    for (at, line) in lines(&text) {
        if let Some((_, name)) = line.split_once(" Benchmarking ") {
            name.trim().clone_into(&mut environment);
        }
        let Some((name, result)) = row(&line) else { continue };
        let name =
            if environment.is_empty() { name.to_owned() } else { format!("{environment}: {name}") };
        match (result, value(result)) {
            ("failed", _) => suite.fail(&name, "the benchmark failed")?,
            ("n/a" | "ok" | "skipped", _) => {}
            (_, Some((value, unit))) => {
                let better = if unit == "s" || unit == "B" { Lower } else { Neither };
                let metric = if unit == "s" { "time" } else { "value" };
                suite.add(&name, &[(metric, Some(value), &unit, better)])?;
            }
            _ => return Err(Flaw::line(at, format!("`{result}` is not a number with a unit"))),
        }
    }
    suite.finish("a benchmark prints a line such as `[ 50.00%] ··· suite.time_x  11.1±0.01μs`")
}
