//! Output of redis-benchmark: its summaries, and the lines of `-q` and of `--csv`.

use assay_model::Better::{Higher, Lower};

use crate::readers::prelude::*;
use crate::readers::result::suite::SuiteValue;

const CSV: &str = "\"test\",\"rps\",";
const RATE: &str = " requests per second";
const MS: f64 = 1e3;

pub(super) fn detect(bytes: &[u8]) -> bool {
    head_has(bytes, |line| {
        line.starts_with(CSV)
            || line.contains("throughput summary: ")
            || (line.contains(RATE) && line.contains(", p50="))
    })
}

/// Returns the metric of a column: `avg_latency_ms`, `avg` or `p50` is a latency.
fn metric(column: &str) -> Option<&'static str> {
    Some(match column.trim_end_matches("_latency_ms") {
        "avg" => "latency.mean",
        "min" => "latency.min",
        "p50" => "latency.p50",
        "p95" => "latency.p95",
        "p99" => "latency.p99",
        "max" => "latency.max",
        _ => return None,
    })
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let text = json::text(bytes);
    let mut suite = SuiteReader::new("redis-benchmark", "redis-benchmark");
    let mut columns: Vec<String> = Vec::new();
    let (mut test, mut rate, mut work) = (String::new(), None, Figures::default());
    for (at, line) in lines(&text) {
        let bad = || Flaw::line(at, format!("`{}` has no number", line.trim()));
        if let Some(name) = line.strip_prefix("====== ") {
            name.trim_end_matches([' ', '=']).clone_into(&mut test);
        } else if line.starts_with(CSV) {
            columns = cells(&line);
        } else if line.starts_with('"') && !columns.is_empty() {
            let row = cells(&line);
            let rate = figure(row.get(1).map_or("", |c| c), at)?;
            let values: Option<Vec<f64>> = row.iter().skip(2).map(|c| number(c)).collect();
            let values = values.filter(|v| v.len() + 2 == columns.len()).ok_or_else(bad)?;
            add(&mut suite, &row[0], rate, &columns[2..], &values)?;
        } else if let Some((requests, time)) = line.trim().split_once(" requests completed in ") {
            let seconds = number(time.trim_end_matches(" seconds")).filter(|s| *s > 0.0);
            (work.count, work.seconds) = (number(requests), seconds);
        } else if let Some(value) = line.trim().strip_prefix("throughput summary: ") {
            rate = Some(figure(value.trim_end_matches(RATE), at)?);
        } else if let Some((name, rest)) =
            line.split_once(": ").filter(|(_, r)| r.contains(", p50="))
        {
            let (value, p50) = rest.split_once(", p50=").unwrap_or_default();
            let value = figure(value.trim_end_matches(RATE), at)?;
            let p50 = number(p50.trim_end_matches(" msec")).ok_or_else(bad)?;
            add(&mut suite, name.trim(), value, &["p50".to_owned()], &[p50])?;
        } else if line.trim_start().starts_with("avg ") {
            columns = line.split_ascii_whitespace().map(str::to_owned).collect();
        } else if let Some(value) = rate.filter(|_| columns.first().is_some_and(|c| c == "avg")) {
            let values: Option<Vec<f64>> = line.split_ascii_whitespace().map(number).collect();
            let values = values.filter(|v| v.len() == columns.len()).ok_or_else(bad)?;
            // The time is printed to 0.01 s.
            let resolution = work.seconds.map_or(0.0, |s| value.unwrap_or(0.0) * 0.01 / s);
            let work = Figures { rate: value, resolution, ..std::mem::take(&mut work) };
            add(&mut suite, &test, value, &columns, &values)?.hold(&["throughput"], &work);
            (columns, rate) = (Vec::new(), None);
        }
    }
    suite.finish("give the output of redis-benchmark, of `-q` or of `--csv`")
}

/// Parses a rate; `None` for the `inf` of a test that took no time.
fn figure(text: &str, line: u64) -> Result<Option<f64>, Flaw> {
    if is_missing(text) {
        return Ok(None);
    }
    let wrong = || Flaw::line(line, format!("`{text}` is not a rate"));
    number(text).map(Some).ok_or_else(wrong)
}

fn cells(line: &str) -> Vec<String> {
    line.split("\",\"").map(|c| c.trim_matches('"').to_owned()).collect()
}

fn add<'a>(
    suite: &'a mut SuiteReader,
    test: &str,
    rate: Option<f64>,
    columns: &[String],
    values: &[f64],
) -> Result<&'a mut ForeignTrial, Flaw> {
    let mut all: Vec<SuiteValue<'_>> = vec![("throughput", rate, "requests/s", Higher)];
    let latencies = columns.iter().zip(values);
    all.extend(latencies.filter_map(|(c, v)| Some((metric(c)?, Some(v / MS), "s", Lower))));
    let trial = suite.add(test, &all)?;
    let figures = Figures { resolution: 1e-6, ..Figures::of_metrics(&trial.metrics, "latency") };
    trial.hold(&["latency"], &figures);
    Ok(trial)
}
