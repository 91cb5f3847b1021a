//! The JSON of `memtier_benchmark`. Its configuration is the treatment; a file is one trial, or one for each
//! run when it was asked to print all runs. Latencies are milliseconds, and a `KB` is 1024 bytes.

use std::collections::BTreeMap;

use assay_model::{Better, Kind, Load, MetricSpec, MetricValue, Observation, Scalar};

use super::error::Flaw;
use super::result::{ForeignResult, ForeignTreatment, ForeignTrial, value};
use super::shape::Shape;
use super::tree::{Tree, joined};
use super::{decode, unit};

/// Where the numbers of a single run are.
const ALL: &str = "ALL STATS";
/// Settings that name files and change nothing.
const NO_SETTINGS: [&str; 6] =
    ["out_file", "client_stats", "run_count", "print-all-runs", "debug", "json_out_file"];
/// Within the statistics, what is no kind of operation.
const NO_OPERATION: [&str; 3] = ["Runtime", "Active Clients", "Time-Serie"];

pub(super) fn detect(bytes: &[u8]) -> bool {
    let shape = Shape::of(bytes);
    let runs = |key: &str| key.starts_with("RUN #") && key.ends_with(" RESULTS");
    shape.has(&[ALL]) || shape.has(&["configuration", "run information"]) || shape.any(runs)
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let file: Tree = decode::json(bytes)?;
    let mut result = ForeignResult {
        tool: "memtier_benchmark",
        workload: "memtier",
        metrics: vec![unit::metric(
            "throughput",
            "ops/s",
            Better::Higher,
            "operations of all kinds",
        )],
        ..ForeignResult::default()
    };
    let params = settings(&file);
    let treatment = result.treatment(ForeignTreatment { levels: BTreeMap::new(), params });
    let single = |name: &str| name.starts_with("RUN #") && name.ends_with(" RESULTS");
    let of = |(name, stats): &'_ (String, Tree)| (name.clone(), stats.clone());
    let mut runs: Vec<(String, Tree)> =
        file.fields().iter().filter(|(k, _)| single(k)).map(of).collect();
    if runs.is_empty() {
        let more = |k: &str| k.starts_with("AGGREGATED") || k.starts_with("BEST RUN");
        let several = file.fields().iter().any(|(k, _)| more(k));
        if several {
            return Err(Flaw::whole(
                "it holds the best, the worst and the mean of several runs, and none of the runs; \
                 run memtier_benchmark with --print-all-runs",
            ));
        }
        runs.extend(file.get(ALL).map(|stats| (ALL.to_owned(), stats.clone())));
    }
    if runs.is_empty() {
        return Err(Flaw::whole(format!("it has no `{ALL}`")));
    }
    // With --rate-limiting a request that is late to be sent is timed from when it is sent.
    let limited = matches!(file.get("configuration").and_then(|c| c.get("rate_limit")), Some(Tree::Number(n)) if *n > 0.0);
    let load = if limited { Load::Open } else { Load::Closed };
    for (name, stats) in &runs {
        let mut trial = trial(treatment, name, stats, &result.metrics[0])?;
        let sending = Observation::Sending { load, slips_charged: false, samples: None };
        trial.evidence.push(sending);
        result.trials.push(trial);
    }
    result.measured_at = Some(result.trials[0].started_at.clone()).filter(|t| !t.is_empty());
    Ok(vec![result])
}

fn settings(file: &Tree) -> BTreeMap<String, Scalar> {
    let mut found = BTreeMap::new();
    let settings = file.get("configuration").map(Tree::fields).unwrap_or_default();
    for (key, setting) in settings.iter().filter(|(key, _)| !NO_SETTINGS.contains(&key.as_str())) {
        let scalar = match setting {
            Tree::Text(s) if s.is_empty() || s == "(null)" => continue,
            Tree::Text(s) => Scalar::Text(s.clone()),
            Tree::Bool(b) => Scalar::Bool(*b),
            Tree::Number(n) if n.fract() == 0.0 && n.abs() < 9e15 => Scalar::Int(*n as i64),
            Tree::Number(n) => Scalar::Float(*n),
            _ => continue,
        };
        found.insert(key.clone(), scalar);
    }
    found
}

fn trial(
    treatment: usize,
    name: &str,
    stats: &Tree,
    throughput: &MetricSpec,
) -> Result<ForeignTrial, Flaw> {
    let path = joined("", name);
    let totals = joined(&path, "Totals");
    let total = stats
        .object(&path)?
        .get("Totals")
        .ok_or_else(|| Flaw::field(&path, "it has no `Totals`"))?
        .object(&totals)?;
    let ops = total.amount("Ops/sec", &totals)?;
    let mut trial = ForeignTrial::new(treatment, vec![value(throughput, ops)]);
    for (operation, figures) in stats.fields() {
        // A list is that of a histogram.
        if NO_OPERATION.contains(&operation.as_str()) || figures.fields().is_empty() {
            continue;
        }
        let path = joined(&path, operation);
        // Nothing was done: its latencies are the zeros of nothing.
        let idle = figures.amount("Ops/sec", &path)?.unwrap_or(0.0) == 0.0;
        if operation == "Totals" || !idle {
            let prefix =
                if operation == "Totals" { String::new() } else { format!("{operation}.") };
            trial.metrics.extend(operation_metrics(figures, &prefix, &path)?);
        }
    }
    runtime(stats, &mut trial);
    if let Some(errors) = total.amount("Connection Errors", &totals)?.filter(|n| *n > 0.0) {
        trial.notes.push(format!("{errors} connection errors"));
    }
    Ok(trial)
}

/// Field of the file, name, factor to the unit, unit, direction.
type Row = (&'static str, &'static str, f64, &'static str, Better);
const ROWS: [Row; 7] = [
    ("Ops/sec", "throughput", 1.0, "ops/s", Better::Higher),
    ("Hits/sec", "hits", 1.0, "1/s", Better::Neither),
    ("Misses/sec", "misses", 1.0, "1/s", Better::Neither),
    ("Average Latency", "latency.mean", 1e-3, "s", Better::Lower),
    ("Min Latency", "latency.min", 1e-3, "s", Better::Lower),
    ("Max Latency", "latency.max", 1e-3, "s", Better::Lower),
    ("KB/sec", "transfer", 1024.0, "B/s", Better::Neither),
];

fn operation_metrics(figures: &Tree, prefix: &str, path: &str) -> Result<Vec<MetricValue>, Flaw> {
    let mut out = Vec::new();
    let mut push = |name: &str, unit: &str, better: Better, v: f64| {
        if !(prefix.is_empty() && name == "throughput") {
            let name = format!("{prefix}{name}");
            out.push(MetricValue::new(name, Some(v), unit, better, Kind::Measured));
        }
    };
    for (field, name, factor, unit, better) in ROWS {
        let mut found = figures.amount(field, path)?;
        if field == "Average Latency" && found.is_none() {
            found = figures.amount("Latency", path)?; // before version 1.3
        }
        if let Some(v) = found {
            push(name, unit, better, v * factor);
        }
    }
    if let Some(percentiles) = figures.get("Percentile Latencies") {
        let path = joined(path, "Percentile Latencies");
        for (key, _) in
            percentiles.object(&path)?.fields().iter().filter(|(k, _)| k.starts_with('p'))
        {
            if let Some(v) = percentiles.amount(key, &path)? {
                let short = key.trim_end_matches('0').trim_end_matches('.');
                push(&format!("latency.{short}"), "s", Better::Lower, v * 1e-3);
            }
        }
    }
    Ok(out)
}

fn runtime(stats: &Tree, trial: &mut ForeignTrial) {
    let Some(runtime) = stats.get("Runtime") else { return };
    if let Some(Tree::Number(ms)) = runtime.get("Start time")
        && let Ok(at) = jiff::Timestamp::from_millisecond(*ms as i64)
    {
        trial.started_at = at.to_string();
    }
    if runtime.get("Interrupted") == Some(&Tree::Text("true".to_owned())) {
        trial.fail("memtier_benchmark was interrupted");
    }
}
