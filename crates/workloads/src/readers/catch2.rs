//! Console output of Catch2's benchmarks. A benchmark has three lines: samples, iterations and the
//! estimated time; mean with its interval; standard deviation with its interval.

use assay_model::Better;

use crate::readers::file::error::Flaw;
use crate::readers::file::json;
use crate::readers::file::lines::{head_has, lines, number, quantity};
use crate::readers::result::ForeignResult;
use crate::readers::result::figures::Figures;
use crate::readers::result::suite::SuiteReader;

pub(super) fn detect(bytes: &[u8]) -> bool {
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

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let text = json::text(bytes);
    let mut suite = SuiteReader::new("Catch2", "catch2");
    let mut case = String::new();
    // A test case stands between two rules, its benchmarks below the rule of a table's header.
    let (mut in_case, mut header, mut table) = (false, false, false);
    let (mut name, mut line_of_name) = (Vec::<String>::new(), 0);
    for (at, line) in lines(&text) {
        let is_rule = line.len() > 20 && line.bytes().all(|b| b == b'-');
        if line.starts_with("benchmark name ") {
            (table, header, name) = (true, true, Vec::new());
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
                }
                [_, _, _] if !name.is_empty() && line_of_name + 1 == at => {
                    let (Some((mean, unit)), Some((low, _)), Some((high, _))) =
                        (time(0), time(1), time(2))
                    else {
                        return Err(Flaw::line(at, "it is not a mean with its interval"));
                    };
                    let full = format!("{case}: {}", name.join(" "));
                    let full = if case.is_empty() { name.join(" ") } else { full };
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
