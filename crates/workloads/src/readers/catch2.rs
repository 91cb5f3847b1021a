//! Console output of Catch2's benchmarks. A benchmark has three lines: samples, iterations and the
//! estimated time; mean with its interval; standard deviation with its interval.

use std::borrow::Cow;

use assay_model::Better;
use regex_lite::Regex;

use crate::readers::file::lines::unescaped;
use crate::readers::prelude::*;

const XML: &str = "<BenchmarkResults name=";
/// Name, mean and interval of a benchmark in XML.
const RESULT: &str = concat!(
    r#"<BenchmarkResults name="([^"]*)"[^>]*>\s*(?:<!--[^>]*-->\s*)?"#,
    r#"<mean value="([^"]*)" lowerBound="([^"]*)" upperBound="([^"]*)""#
);

pub(super) fn detect(bytes: &[u8]) -> bool {
    let xml = json::head(bytes);
    if xml.trim_start().starts_with("<?xml") {
        return xml.contains("<Catch") && xml.contains(XML);
    }
    head_has(bytes, |line| {
        line.starts_with("benchmark name ")
            && line.contains(" samples ")
            && line.contains(" iterations ")
    })
}

/// Splits `344 ns   341 ns   349 ns` at the gaps of two blanks or more.
fn columns(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|c| !c.is_empty()).collect()
}

fn full_name(case: &str, name: &[String]) -> String {
    let name = name.join(" ");
    if case.is_empty() { name } else { format!("{case}: {name}") }
}

/// Reads the results of Catch2's XML reporter, whose times are in nanoseconds.
fn read_xml(text: &str) -> Result<Vec<ForeignResult>, Flaw> {
    let result = Regex::new(RESULT).map_err(|e| Flaw::whole(e.to_string()))?;
    let mut suite = SuiteReader::new("Catch2", "catch2");
    for part in text.split("<TestCase name=\"").skip(1) {
        let case = unescaped(part.split('"').next().unwrap_or_default());
        for found in result.captures_iter(part) {
            let [mean, low, high] = [2, 3, 4].map(|at| number(&found[at]).map(|ns| ns / 1e9));
            let name = full_name(&case, &[unescaped(&found[1]).into_owned()]);
            if mean.is_none() {
                return Err(Flaw::whole(format!("{name}: `{}` is not a number", &found[2])));
            }
            let trial = suite.add(&name, &[("time", mean, "s", Better::Lower)])?;
            let figures = Figures { min: low, mean, max: high, ..Figures::default() };
            trial.hold(&["time"], &figures);
        }
    }
    suite.finish("it has no element BenchmarkResults with a mean")
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let text = json::text(bytes);
    if text.contains(XML) {
        return read_xml(&text);
    }
    let mut suite = SuiteReader::new("Catch2", "catch2");
    let mut case = String::new();
    // A test case stands between two rules, its benchmarks below the rule of a table's header.
    let (mut in_case, mut header, mut table) = (false, false, false);
    // With --benchmark-no-analysis a row has the mean alone.
    let mut mean_alone = false;
    // The name of a benchmark that is longer than its column begins in the rows above its numbers,
    // or goes on to their left. `samples` is true below the row of its samples.
    let (mut name, mut samples) = (Vec::<String>::new(), false);
    let mut open = None::<([f64; 3], String)>;
    for (at, line) in lines(&text).chain([(0, Cow::Borrowed(""))]) {
        let is_rule = line.len() > 20 && line.bytes().all(|b| b == b'-');
        let cells = columns(&line);
        let (left, right) = cells.split_at(cells.len().saturating_sub(3));
        let is_number = |at: usize| number(right[at]).is_some();
        let figure = |c: &&str| c.starts_with(|c: char| c.is_numeric() || "-+.".contains(c));
        let starts = table && !header && right.len() == 3 && is_number(0) && is_number(1);
        if is_rule || cells.is_empty() || samples && (starts || mean_alone) {
            if samples {
                finish(&mut suite, &case, &name, open.take())?;
            }
            name.clear();
            samples = false;
        }
        if line.starts_with("benchmark name ") {
            (table, header, name) = (true, true, Vec::new());
            mean_alone = line.trim_end().ends_with(" mean");
        } else if is_rule && header {
            header = false;
        } else if is_rule {
            in_case = !in_case;
            if in_case {
                table = false;
                case.clear();
            }
        } else if in_case && !line.trim().is_empty() {
            // The sections of a case are indented.
            case.push_str(if case.is_empty() { "" } else { " / " });
            case.push_str(line.trim());
        } else if starts {
            name.extend(left.iter().map(|c| (*c).to_owned()));
            samples = true;
            let mean = quantity(right[2]).filter(|_| mean_alone);
            open = mean.map(|(mean, unit)| ([mean; 3], unit));
        } else if table && !header && !samples && right.len() == 3 && right.iter().all(figure) {
            return Err(Flaw::line(at, "a figure of this row is not a number"));
        } else if table && !header && !cells.is_empty() {
            let times: Option<Vec<(f64, String)>> = right.iter().map(|c| quantity(c)).collect();
            let part = match times.as_deref() {
                Some([mean, low, high]) if samples && mean.1 == "s" => {
                    open.get_or_insert(([mean.0, low.0, high.0], mean.1.clone()));
                    left
                }
                _ if samples && open.is_none() => {
                    return Err(Flaw::line(at, "it is not a mean with its interval"));
                }
                _ => &cells[..],
            };
            name.extend(part.iter().map(|c| (*c).to_owned()));
        }
    }
    suite
        .finish("a benchmark has its mean and interval below `benchmark name  samples  iterations`")
}

/// Adds a benchmark with its mean and the ends of its interval.
fn finish(
    suite: &mut SuiteReader,
    case: &str,
    name: &[String],
    open: Option<([f64; 3], String)>,
) -> Result<(), Flaw> {
    let full = full_name(case, name);
    let Some(([mean, low, high], unit)) = open else {
        return suite.fail(&full, "it has no mean");
    };
    let trial = suite.add(&full, &[("time", Some(mean), &unit, Better::Lower)])?;
    let figures =
        Figures { min: Some(low), mean: Some(mean), max: Some(high), ..Figures::default() };
    trial.hold(&["time"], &figures);
    Ok(())
}
