//! Console output of Catch2's benchmarks. A benchmark has three lines: samples, iterations and the
//! estimated time; mean with its interval; standard deviation with its interval.

use assay_model::Better;
use regex_lite::Regex;

use crate::readers::file::error::Flaw;
use crate::readers::file::json;
use crate::readers::file::lines::{head_has, lines, number, quantity, unescaped};
use crate::readers::result::ForeignResult;
use crate::readers::result::figures::Figures;
use crate::readers::result::suite::SuiteReader;

const XML: &str = "<BenchmarkResults name=";
/// Name, mean and interval of a benchmark in XML.
const RESULT: &str = r#"<BenchmarkResults name="([^"]*)"[^>]*>\s*(?:<!--[^>]*-->\s*)?<mean value="([^"]*)" lowerBound="([^"]*)" upperBound="([^"]*)""#;

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
    let (mut name, mut line_of_name) = (Vec::<String>::new(), 0);
    for (at, line) in lines(&text) {
        let is_rule = line.len() > 20 && line.bytes().all(|b| b == b'-');
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
        } else if table && !header {
            let cells = columns(&line);
            let time = |i: usize| cells.get(i).and_then(|c| quantity(c));
            match cells.as_slice() {
                [.., samples, iterations, estimated]
                    if number(samples).is_some()
                        && number(iterations).is_some()
                        && quantity(estimated).is_some() =>
                {
                    name.extend(cells[..cells.len() - 3].iter().map(|c| (*c).to_owned()));
                    line_of_name = at;
                    if let (true, Some((mean, unit))) = (mean_alone, quantity(estimated)) {
                        let full = full_name(&case, &name);
                        suite.add(&full, &[("time", Some(mean), &unit, Better::Lower)])?;
                        name.clear();
                    }
                }
                [_, _, _] if !name.is_empty() && line_of_name + 1 == at => {
                    let (Some((mean, unit)), Some((low, _)), Some((high, _))) =
                        (time(0), time(1), time(2))
                    else {
                        return Err(Flaw::line(at, "it is not a mean with its interval"));
                    };
                    let full = full_name(&case, &name);
                    let trial = suite.add(&full, &[("time", Some(mean), &unit, Better::Lower)])?;
                    let figures = Figures {
                        min: Some(low),
                        mean: Some(mean),
                        max: Some(high),
                        ..Figures::default()
                    };
                    trial.hold(&["time"], &figures);
                    name.clear();
                }
                // A name that is longer than its column goes on in the next line.
                [part] if quantity(part).is_none() => name.push((*part).to_owned()),
                _ => {}
            }
        }
    }
    suite
        .finish("a benchmark has its mean and interval below `benchmark name  samples  iterations`")
}
