//! Summary that wrk and wrk2 print at their end. wrk's `k` is 1000 for rates and 1024 for bytes.

use assay_model::Better::{Higher, Lower};

use crate::readers::prelude::*;

pub(super) fn detect(bytes: &[u8]) -> bool {
    head_has(bytes, |line| line.starts_with("Requests/sec: "))
        && head_has(bytes, |line| line.starts_with("Running ") && line.contains(" test @ "))
}

/// Percentiles that become metrics.
const PERCENTILES: [(f64, &str); 6] = [
    (50.0, "latency.p50"),
    (75.0, "latency.p75"),
    (90.0, "latency.p90"),
    (99.0, "latency.p99"),
    (99.9, "latency.p99.9"),
    (99.99, "latency.p99.99"),
];

fn time(text: &str) -> Option<f64> {
    quantity(text).filter(|q| q.1 == "s").map(|q| q.0)
}

fn bytes_of(text: &str) -> Option<f64> {
    let (digits, factor) = match text.trim().strip_suffix('B')? {
        t if t.ends_with('K') => (&t[..t.len() - 1], 1024.0),
        t if t.ends_with('M') => (&t[..t.len() - 1], 1024.0 * 1024.0),
        t if t.ends_with('G') => (&t[..t.len() - 1], 1024.0 * 1024.0 * 1024.0),
        t => (t, 1.0),
    };
    Some(number(digits)? * factor)
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let text = json::text(bytes);
    let mut suite = SuiteReader::new("wrk", "wrk");
    let mut values = Vec::new();
    let (mut latency, mut rate) = (Figures::default(), Figures::default());
    let (mut errors, mut corrected) = (0.0, true);
    for (at, line) in lines(&text) {
        let bad = || Flaw::line(at, format!("`{}` is not a figure of wrk", line.trim()));
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        corrected &= !line.contains("Uncorrected Latency");
        match words.as_slice() {
            // With -U wrk2 also prints latencies from when requests were sent late.
            [percent, _] if percent.ends_with('%') && !corrected => {}
            ["Latency", mean, _, max, _] => {
                latency.mean = Some(time(mean).ok_or_else(bad)?);
                latency.max = Some(time(max).ok_or_else(bad)?);
            }
            [percent, value] if percent.ends_with('%') => {
                let percent = number(percent.trim_end_matches('%')).ok_or_else(bad)?;
                let value = time(value).ok_or_else(bad)?;
                if let Some((_, name)) = PERCENTILES.iter().find(|p| p.0 == percent) {
                    values.push((*name, Some(value), "s", Lower));
                    latency.percentiles.push((percent, value));
                }
            }
            // A number that goes on behind a blank makes another number of words.
            ["Latency", mean, _, _, ..] if mean.contains(char::is_numeric) => return Err(bad()),
            [percent, _, ..] if percent.ends_with('%') => return Err(bad()),
            [count, "requests", "in", seconds, ..] => {
                rate.count = number(count);
                rate.seconds = Some(time(seconds.trim_end_matches(',')).ok_or_else(bad)?);
            }
            ["Requests/sec:", value] => rate.rate = Some(number(value).ok_or_else(bad)?),
            ["Transfer/sec:", value] => {
                values.push(("transfer", Some(bytes_of(value).ok_or_else(bad)?), "B/s", Higher));
            }
            ["Requests/sec:" | "Transfer/sec:", ..] => return Err(bad()),
            ["Socket", "errors:", rest @ ..] => {
                let counts = rest.iter().filter_map(|w| number(w.trim_end_matches(',')));
                errors += counts.sum::<f64>();
            }
            ["Non-2xx", .., count] => errors += number(count).ok_or_else(bad)?,
            _ => {}
        }
    }
    if rate.count == Some(0.0) {
        // Without a response the latencies are printed as 0.
        (latency, values) = (Figures::default(), Vec::new());
    }
    let found = [
        ("throughput", rate.rate, "requests/s", Higher),
        ("latency.mean", latency.mean, "s", Lower),
        ("latency.max", latency.max, "s", Lower),
        ("errors", Some(errors), "1", Lower),
    ];
    values.splice(..0, found);
    let trial = suite.add("", &values)?;
    trial.hold(&["throughput"], &rate);
    trial.hold(&["latency"], &latency);
    let left_out = "the uncorrected latencies (-U) are left out";
    trial.notes.extend((!corrected).then(|| left_out.to_owned()));
    if errors > 0.0 {
        trial.notes.push(format!("{errors} requests failed"));
    }
    suite.finish("give the output of wrk or wrk2")
}
