//! Output of mcperf (twemperf). Each `Total:` line starts a trial; the command line before it, if
//! the text has one, is the treatment. Times are in milliseconds, and a `KB` is 1024 bytes.

use std::collections::BTreeMap;

use assay_model::{Better, Observation, Scalar};

use crate::readers::prelude::*;

pub(crate) fn detect(bytes: &[u8]) -> bool {
    json::head(bytes).lines().any(starts_trial)
}

/// httperf has a similar output, but prints `replies`.
fn starts_trial(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("Total: connections ") && line.contains(" responses ")
}

/// A value of the output: the start of its line, the word before it (empty: it is the first word),
/// the metric's name, the factor to its unit, the unit and the direction.
type McperfField = (&'static str, &'static str, &'static str, f64, &'static str, Better);
const RESPONSE: &str = "Response time [ms]:";
const ROWS: [McperfField; 19] = [
    ("Total:", "requests", "requests", 1.0, "1", Better::Neither),
    ("Total:", "responses", "responses", 1.0, "1", Better::Neither),
    ("Total:", "test-duration", "duration", 1.0, "s", Better::Neither),
    ("Connection rate:", "", "connection_rate", 1.0, "connections/s", Better::Neither),
    ("Request rate:", "", "request_rate", 1.0, "ops/s", Better::Neither),
    ("Response rate:", "", "throughput", 1.0, "ops/s", Better::Higher),
    ("Connect time [ms]:", "avg", "connect_time.mean", 1e-3, "s", Better::Lower),
    (RESPONSE, "avg", "latency.mean", 1e-3, "s", Better::Lower),
    (RESPONSE, "min", "latency.min", 1e-3, "s", Better::Lower),
    (RESPONSE, "max", "latency.max", 1e-3, "s", Better::Lower),
    (RESPONSE, "p25", "latency.p25", 1e-3, "s", Better::Lower),
    (RESPONSE, "p50", "latency.p50", 1e-3, "s", Better::Lower),
    (RESPONSE, "p75", "latency.p75", 1e-3, "s", Better::Lower),
    (RESPONSE, "p95", "latency.p95", 1e-3, "s", Better::Lower),
    (RESPONSE, "p99", "latency.p99", 1e-3, "s", Better::Lower),
    (RESPONSE, "p999", "latency.p99.9", 1e-3, "s", Better::Lower),
    ("CPU time [s]:", "user", "client_user", 1.0, "s", Better::Neither),
    ("CPU time [s]:", "system", "client_system", 1.0, "s", Better::Neither),
    ("Net I/O:", "rate", "transfer", 1024.0, "B/s", Better::Neither),
];

pub(crate) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let text = json::text(bytes);
    let mut result = ForeignResult {
        tool: "mcperf",
        workload: "mcperf",
        metrics: vec![unit::metric("throughput", "ops/s", Better::Higher, "responses a second")],
        notes: vec![
            "mcperf prints rates to 0.1 and times to 0.1 ms, and its percentiles in whole \
             milliseconds; the numbers have no more digits than that."
                .to_owned(),
        ],
        ..ForeignResult::default()
    };
    let mut command: Option<ForeignTreatment> = None;
    let mut open: Option<(u64, ForeignTrial)> = None;
    for (i, line) in text.lines().enumerate() {
        let (number, line) = (i as u64 + 1, line.trim());
        if starts_trial(line) {
            finish(&mut result, open.take())?;
            let treatment = result.treatment(command.clone().unwrap_or_default());
            open = Some((number, ForeignTrial::new(treatment, Vec::new())));
        } else if let Some(found) = command_of(line) {
            command = Some(found);
        }
        if let Some((_, trial)) = &mut open {
            read_line(trial, line, number)?;
        }
    }
    finish(&mut result, open)?;
    if result.trials.is_empty() {
        return Err(Flaw::whole("it has no line `Total: connections ... responses ...`"));
    }
    Ok(vec![result])
}

/// Parses the options of a command line such as `# mcperf --num-conns=100 ...`.
fn command_of(line: &str) -> Option<ForeignTreatment> {
    let (_, options) = line.split_once("mcperf --")?;
    let params: BTreeMap<String, Scalar> = format!("--{options}")
        .split_ascii_whitespace()
        .filter_map(|word| word.strip_prefix("--")?.split_once('='))
        .map(|(key, value)| (key.to_owned(), Scalar::parse(value)))
        .collect();
    (!params.is_empty()).then_some(ForeignTreatment { levels: BTreeMap::new(), params })
}

fn read_line(trial: &mut ForeignTrial, line: &str, number: u64) -> Result<(), Flaw> {
    if let Some(rest) = line.strip_prefix("Errors: total ") {
        let errors = parse(rest.split_ascii_whitespace().next().unwrap_or(""), number)?;
        trial.evidence.push(Observation::Errors { program: "mcperf".into(), count: errors });
        return Ok(());
    }
    for (start, key, name, factor, unit, better) in ROWS {
        let Some(rest) = line.strip_prefix(start) else { continue };
        let mut words = rest.split_ascii_whitespace();
        // The response time has three lines, each with other percentiles.
        if !key.is_empty() && !words.any(|word| word == key) {
            continue;
        }
        let amount = parse(words.next().unwrap_or(""), number)? * factor;
        if words.next().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit())) {
            return Err(Flaw::line(number, format!("`{key}` of `{start}` has two numbers")));
        }
        if trial.metrics.iter().any(|m| m.name == name) {
            let message = format!("`{start}` has `{key}` twice in one result");
            return Err(Flaw::line(number, message));
        }
        let spec = unit::metric(name, unit, better, "");
        trial.metrics.push(value(&spec, Some(amount)));
    }
    Ok(())
}

fn parse(word: &str, line: u64) -> Result<f64, Flaw> {
    match word.parse::<f64>() {
        Ok(v) if v.is_finite() && v >= 0.0 => Ok(v),
        _ => Err(Flaw::line(line, format!("`{word}` is not a number from 0"))),
    }
}

fn finish(result: &mut ForeignResult, open: Option<(u64, ForeignTrial)>) -> Result<(), Flaw> {
    let Some((line, mut trial)) = open else { return Ok(()) };
    let metric = |name: &str| trial.metrics.iter().find(|m| m.name == name).and_then(|m| m.value);
    let Some(rate) = metric("throughput") else {
        return Err(Flaw::line(line, "the result that begins here has no `Response rate:`"));
    };
    let rates = |rate: Option<f64>, count: &str| Figures {
        rate,
        count: metric(count),
        seconds: metric("duration"),
        resolution: 0.1,
        ..Figures::default()
    };
    // Percentiles are in whole milliseconds.
    let latency = Figures { resolution: 1e-3, ..Figures::of_metrics(&trial.metrics, "latency") };
    let requests = rates(metric("request_rate"), "requests");
    let responses = rates(Some(rate), "responses");
    trial.hold(&["throughput"], &responses);
    trial.hold(&["request_rate"], &requests);
    trial.hold(&["latency"], &latency);
    result.trials.push(trial);
    Ok(())
}
