//! Console output and CSV of Google Benchmark. Aggregates of repetitions (`_mean`) are left out.

use std::collections::HashSet;

use assay_model::Better::Lower;
use regex_lite::Regex;

use crate::readers::file::unit::{scaled, seconds};
use crate::readers::prelude::*;

const CSV: &str = "name,iterations,real_time,cpu_time,time_unit,";
/// Name, wall time, CPU time and iterations of a row of the console.
const ROW: &str =
    r"^(.*\S)\s\s+(\S.*?|\S) (ns|us|ms|s)\s\s+(\S.*?|\S) (ns|us|ms|s)\s\s+(\S+)(?:\s|$)";
const FAILED: &str = " ERROR OCCURRED: ";

pub(super) fn detect(bytes: &[u8]) -> bool {
    head_has(bytes, |line| line.starts_with(CSV) || is_header(line))
}

fn is_header(line: &str) -> bool {
    line.split_ascii_whitespace().take(4).eq(["Benchmark", "Time", "CPU", "Iterations"])
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let text = json::text(bytes);
    let rows = match text.find(CSV) {
        Some(start) => csv_rows(&text[start..])?,
        None => console_rows(&text)?,
    };
    let names: HashSet<&str> = rows.iter().map(|r| r.name.as_str()).collect();
    let mut suite = SuiteReader::new("Google Benchmark", "google-benchmark");
    if text.contains(" UserCounters...") {
        suite.note("user counters are left out; --benchmark_out_format=json has them");
    }
    for row in &rows {
        let base = row.name.rsplit_once('_').filter(|(base, _)| names.contains(base));
        if base
            .is_some_and(|(_, s)| matches!(s, "mean" | "median" | "stddev" | "cv" | "BigO" | "RMS"))
        {
            continue;
        }
        match &row.times {
            Ok([real, cpu]) => {
                let values =
                    [("real_time", Some(*real), "s", Lower), ("cpu_time", Some(*cpu), "s", Lower)];
                suite.add(&row.name, &values)?;
            }
            Err(why) => suite.fail(&row.name, why)?,
        }
    }
    suite.finish("it holds no repetition; run without --benchmark_report_aggregates_only")
}

struct Row {
    name: String,
    /// Wall and CPU time of an iteration in seconds, or the error of the benchmark.
    times: Result<[f64; 2], String>,
}

fn console_rows(text: &str) -> Result<Vec<Row>, Flaw> {
    let pattern = Regex::new(ROW).map_err(|e| Flaw::whole(e.to_string()))?;
    let (mut rows, mut table) = (Vec::new(), false);
    for (_, line) in lines(text) {
        table |= is_header(&line);
        if let (true, Some((name, why))) = (table, line.split_once(FAILED)) {
            rows.push(Row { name: name.trim().to_owned(), times: Err(why.trim().to_owned()) });
        } else if let (true, Some(found)) = (table, pattern.captures(&line)) {
            let time = |at: usize| Some(scaled(number(&found[at])?, seconds(&found[at + 1])?));
            let times = time(2).zip(time(4)).map(|(real, cpu)| [real, cpu]);
            let times =
                times.ok_or_else(|| format!("`{}` or `{}` is not a time", &found[2], &found[4]));
            rows.push(Row { name: found[1].to_owned(), times });
        }
    }
    Ok(rows)
}

fn csv_rows(text: &str) -> Result<Vec<Row>, Flaw> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|e| Flaw::whole(e.to_string()))?.clone();
    let column = |name: &str| header.iter().position(|h| h == name);
    let (failed, message) = (column("error_occurred"), column("error_message"));
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| Flaw::whole(e.to_string()))?;
        let cell = |at: Option<usize>| at.and_then(|at| record.get(at)).unwrap_or_default();
        let name = cell(Some(0)).to_owned();
        let time = |at: usize| Some(scaled(number(cell(Some(at)))?, seconds(cell(Some(4)))?));
        let times = if cell(failed) == "true" {
            Err(cell(message).to_owned())
        } else {
            let times = time(2).zip(time(3)).map(|(real, cpu)| [real, cpu]);
            times.ok_or_else(|| "it has no time with a unit".to_owned())
        };
        rows.push(Row { name, times });
    }
    Ok(rows)
}
