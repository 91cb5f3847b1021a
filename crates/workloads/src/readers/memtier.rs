//! JSON of `memtier_benchmark`. Its configuration is the treatment. A file is one trial, or one per
//! run if it printed all runs. Latencies are in milliseconds, and a `KB` is 1024 bytes.

use std::collections::BTreeMap;

use assay_model::{Better, Load, MetricSpec, Observation, Scalar};
use serde_json::Value;

use crate::readers::prelude::*;

/// Key of the statistics of a single run.
const ALL: &str = "ALL STATS";
/// Largest latency that the histograms can represent, in seconds.
const CEILING_S: f64 = 600.0;
/// Settings that do not influence the measurement.
const NO_SETTINGS: [&str; 6] =
    ["out_file", "client_stats", "run_count", "print-all-runs", "debug", "json_out_file"];
/// Keys in the statistics that are not operations.
const NO_OPERATION: [&str; 3] = ["Runtime", "Active Clients", "Time-Serie"];

fn is_run(key: &str) -> bool {
    key.starts_with("RUN #") && key.ends_with(" RESULTS")
}

pub(crate) fn detect(bytes: &[u8]) -> bool {
    let keys = json::keys(bytes);
    let has = |key: &str| keys.contains(key);
    has(ALL) || has("configuration") && has("run information") || keys.iter().any(|k| is_run(k))
}

pub(crate) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let file = json::value(bytes)?;
    let file = Json::root(&file);
    let throughput = unit::metric("throughput", "ops/s", Better::Higher, "operations of all kinds");
    let mut result = ForeignResult {
        tool: "memtier_benchmark",
        workload: "memtier",
        metrics: vec![throughput.clone()],
        ..ForeignResult::default()
    };
    let configuration = file.get("configuration");
    let params = settings(&configuration);
    let treatment = result.treatment(ForeignTreatment { levels: BTreeMap::new(), params });
    let mut runs: Vec<_> = file.fields().filter(|(k, _)| is_run(k)).map(|(_, run)| run).collect();
    if runs.is_empty() {
        let several = |key: &str| key.starts_with("AGGREGATED") || key.starts_with("BEST RUN");
        if file.fields().any(|(key, _)| several(key)) {
            return Err(Flaw::whole(
                "it has only the best, the worst and the mean of several runs; run \
                 memtier_benchmark with --print-all-runs",
            ));
        }
        runs.push(file.get(ALL));
        if runs[0].value().is_null() {
            return Err(Flaw::whole(format!("it has no `{ALL}`")));
        }
    }
    // With --rate-limiting, a request that is sent late is timed from when it is sent.
    let limited = configuration.get("rate_limit").value().as_f64().is_some_and(|n| n > 0.0);
    let load = if limited { Load::Open } else { Load::Closed };
    for run in &runs {
        let mut trial = trial(treatment, run, &throughput)?;
        let sending = Observation::Sending { load, slips_charged: false, samples: None };
        trial.evidence.push(sending);
        result.trials.push(trial);
    }
    result.measured_at = Some(result.trials[0].started_at.clone()).filter(|t| !t.is_empty());
    Ok(vec![result])
}

fn settings(configuration: &Json<'_>) -> BTreeMap<String, Scalar> {
    let setting = |(key, json): (&str, Json<'_>)| {
        let scalar = match json.value() {
            Value::String(s) if s.is_empty() || s == "(null)" => return None,
            Value::String(s) => Scalar::Text(s.clone()),
            Value::Bool(b) => Scalar::Bool(*b),
            Value::Number(n) => match n.as_f64()? {
                n if n.fract() == 0.0 && n.abs() < 9e15 => Scalar::Int(n as i64),
                n => Scalar::Float(n),
            },
            _ => return None,
        };
        Some((key.to_owned(), scalar))
    };
    configuration
        .fields()
        .filter(|(key, _)| !NO_SETTINGS.contains(key))
        .filter_map(setting)
        .collect()
}

fn trial(
    treatment: usize,
    stats: &Json<'_>,
    throughput: &MetricSpec,
) -> Result<ForeignTrial, Flaw> {
    let total = stats.object()?.get("Totals");
    if total.value().is_null() {
        return Err(stats.flaw("it has no `Totals`"));
    }
    let ops = total.object()?.get("Ops/sec").amount()?;
    let mut trial = ForeignTrial::new(treatment, vec![value(throughput, ops)]);
    let runtime = stats.get("Runtime");
    let seconds = runtime.get("Total duration").amount()?.map(|ms| ms * 1e-3);
    for (operation, figures) in stats.fields().filter(|(name, _)| !NO_OPERATION.contains(name)) {
        let prefix = if operation == "Totals" { String::new() } else { format!("{operation}.") };
        // A list belongs to a histogram. The latencies of an operation that did not occur are
        // meaningless zeros.
        let some = |key: &str| figures.get(key).amount().map(|n| n.unwrap_or(0.0) != 0.0);
        let done = prefix.is_empty() || some("Ops/sec")? || some("Count")?;
        if figures.fields().next().is_some() && done {
            add_metrics(&mut trial, &figures, &prefix, seconds)?;
        }
    }
    let started = runtime.get("Start time").value().as_f64();
    if let Some(at) = started.and_then(|ms| jiff::Timestamp::from_millisecond(ms as i64).ok()) {
        trial.started_at = at.to_string();
    }
    if runtime.get("Interrupted").text_or_empty() == "true" {
        trial.fail("memtier_benchmark was interrupted");
    }
    if let Some(errors) = total.get("Connection Errors").amount()?.filter(|n| *n > 0.0) {
        trial.notes.push(format!("{errors} connection errors"));
    }
    Ok(trial)
}

/// A field: its name, the metric's name, the factor to the metric's unit, the unit and the
/// direction.
type MemtierField = (&'static str, &'static str, f64, &'static str, Better);
const ROWS: [MemtierField; 7] = [
    ("Ops/sec", "throughput", 1.0, "ops/s", Better::Higher),
    ("Hits/sec", "hits", 1.0, "1/s", Better::Neither),
    ("Misses/sec", "misses", 1.0, "1/s", Better::Neither),
    ("Average Latency", "latency.mean", 1e-3, "s", Better::Lower),
    ("Min Latency", "latency.min", 1e-3, "s", Better::Lower),
    ("Max Latency", "latency.max", 1e-3, "s", Better::Lower),
    ("KB/sec", "transfer", 1024.0, "B/s", Better::Neither),
];

fn add_metrics(
    trial: &mut ForeignTrial,
    figures: &Json<'_>,
    prefix: &str,
    seconds: Option<f64>,
) -> Result<(), Flaw> {
    let mut add = |name: &str, unit: &str, better: Better, v: f64| {
        let spec = unit::metric(&format!("{prefix}{name}"), unit, better, "");
        trial.metrics.push(value(&spec, Some(v)));
    };
    for (field, name, factor, unit, better) in ROWS {
        let mut found = figures.get(field).amount()?;
        if field == "Average Latency" && found.is_none() {
            found = figures.get("Latency").amount()?; // before version 1.3
        }
        // Version 2 writes 0 as the mean of all operations.
        let idle = figures.get("Min Latency").amount()?.is_none_or(|min| min <= 0.0);
        found = found.filter(|v| idle || field != "Average Latency" || *v > 0.0);
        // The throughput of the totals is the first metric of the trial already.
        if let Some(v) = found.filter(|_| !(prefix.is_empty() && name == "throughput")) {
            add(name, unit, better, v * factor);
        }
    }
    let percentiles = figures.get("Percentile Latencies");
    if !percentiles.value().is_null() {
        percentiles.object()?;
    }
    for (key, json) in percentiles.fields().filter(|(key, _)| key.starts_with('p')) {
        if let Some(v) = json.amount()? {
            let short = key.trim_end_matches('0').trim_end_matches('.');
            add(&format!("latency.{short}"), "s", Better::Lower, v * 1e-3);
        }
    }
    let name = format!("{prefix}latency");
    // Latencies have three decimals of a millisecond.
    let (ceiling, resolution) = (Some(CEILING_S), 1e-6);
    let latency = Figures { ceiling, resolution, ..Figures::of_metrics(&trial.metrics, &name) };
    let throughput = Figures {
        rate: figures.get("Ops/sec").amount()?,
        count: figures.get("Count").amount()?,
        seconds,
        mean: latency.mean,
        resolution: 0.01,
        ..Figures::default()
    };
    trial.hold(&[&format!("{prefix}throughput")], &throughput);
    trial.hold(&[&name], &latency);
    Ok(())
}
