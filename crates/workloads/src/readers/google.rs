//! Output of Google Benchmark; the console and CSV are in [`google_text`]. A benchmark with its
//! arguments (`BM_copy/64`) is a treatment and each repetition is a trial; the iterations inside a
//! repetition never count as trials. Aggregates are not results: their mean is only compared with
//! that of the repetitions.

use std::collections::BTreeMap;

use assay_model::{Better, MetricSpec, Observation, Scalar};
use serde_json::Value;

use crate::readers::google_text;
use crate::readers::prelude::*;

/// Maximum number of metrics in a file: the times and the counters of all its benchmarks.
const MAX_METRICS: usize = 200;

/// Numeric fields of an entry that are not counters.
const NO_COUNTERS: [&str; 9] = [
    "family_index",
    "per_family_instance_index",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "real_time",
    "cpu_time",
    "allocs_per_iter",
];

/// One entry of the file's `benchmarks` list.
struct BenchmarkEntry<'a> {
    name: &'a str,
    run_name: Option<&'a str>,
    json: Json<'a>,
}

impl<'a> BenchmarkEntry<'a> {
    fn from_json(json: Json<'a>) -> Result<Self, Flaw> {
        Ok(BenchmarkEntry {
            name: json.name("name")?,
            run_name: json.get("run_name").text()?,
            json,
        })
    }

    /// Returns a time in seconds.
    fn seconds(&self, key: &str) -> Result<Option<f64>, Flaw> {
        let unit = self.json.get("time_unit");
        let name = unit.text()?.unwrap_or("ns");
        let factor = unit::seconds(name)
            .ok_or_else(|| unit.flaw(format!("`{name}` is not a unit of time")))?;
        Ok(self.json.get(key).amount()?.map(|v| v * factor))
    }

    /// Returns the error that the benchmark reports.
    fn error(&self) -> Option<&'a str> {
        let is = |key| *self.json.get(key).value() == Value::Bool(true);
        if !is("error_occurred") && !is("skipped") {
            return None;
        }
        let message = |key| Some(self.json.get(key).text_or_empty()).filter(|m| !m.is_empty());
        let message = message("error_message").or_else(|| message("skip_message"));
        Some(message.unwrap_or("the benchmark reports an error"))
    }

    /// Returns the aggregate's name; older versions state it only in the name of the benchmark.
    fn aggregate(&self, all: &[BenchmarkEntry<'_>]) -> Option<&'a str> {
        match self.json.get("run_type").text_or_empty() {
            "aggregate" => Some(self.json.get("aggregate_name").text_or_empty()),
            "" => {
                let (base, suffix) = self.name.rsplit_once('_')?;
                let known = matches!(suffix, "mean" | "median" | "stddev" | "cv" | "BigO" | "RMS");
                (known && all.iter().any(|e| e.name == base)).then_some(suffix)
            }
            _ => None,
        }
    }
}

pub(crate) fn detect(bytes: &[u8]) -> bool {
    json::has_keys(bytes, &["context", "benchmarks"]) || google_text::detect(bytes)
}

pub(crate) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    if google_text::detect(bytes) {
        return google_text::read(bytes);
    }
    let file = json::value(bytes)?;
    let context = Json::root(&file).get("context");
    let benchmarks = Json::root(&file).get("benchmarks");
    let entries = benchmarks
        .entries()?
        .into_iter()
        .map(BenchmarkEntry::from_json)
        .collect::<Result<Vec<_>, _>>()?;
    let mut result = ForeignResult {
        tool: "Google Benchmark",
        version: context.object()?.get("library_version").text()?.map(str::to_owned),
        workload: "google-benchmark",
        metrics: vec![
            unit::metric("real_time", "s", Better::Lower, "wall time of one iteration"),
            unit::metric("cpu_time", "s", Better::Lower, "CPU time of one iteration"),
        ],
        ..ForeignResult::default()
    };
    describe(&mut result, &context)?;
    for entry in entries.iter().filter(|e| e.aggregate(&entries).is_none()) {
        read_repetition(&mut result, entry)?;
    }
    if result.trials.is_empty() {
        let message = "it holds no repetition; run without --benchmark_report_aggregates_only";
        return Err(benchmarks.flaw(message));
    }
    check_means(&mut result, &entries)?;
    Ok(vec![result])
}

/// Appends the library's filter to a program that runs without a shell.
pub(super) fn filter(line: &[String], names: &[&str]) -> Option<Vec<String>> {
    let shell = |word: &String| matches!(word.as_str(), "sh" | "bash" | "env");
    let mut line = line.first().filter(|w| !shell(w)).map(|_| line.to_vec())?;
    line.push(format!("--benchmark_filter={}", super::criterion::pattern(names)));
    Some(line)
}

fn read_repetition(result: &mut ForeignResult, entry: &BenchmarkEntry<'_>) -> Result<(), Flaw> {
    let threads = entry.json.get("threads").amount()?;
    let params = threads.map(|t| ("threads".to_owned(), Scalar::Int(t as i64)));
    let name = Scalar::from(entry.run_name.unwrap_or(entry.name));
    let treatment = result.treatment(ForeignTreatment {
        levels: BTreeMap::from([(BENCHMARK.to_owned(), name)]),
        params: params.into_iter().collect(),
    });
    let mut metrics = vec![
        value(&result.metrics[0], entry.seconds("real_time")?),
        value(&result.metrics[1], entry.seconds("cpu_time")?),
    ];
    for (name, json) in entry.json.fields().filter(|(name, _)| !NO_COUNTERS.contains(name)) {
        let Some(number) = json.value().as_f64() else { continue };
        let spec = counter(name);
        metrics.push(value(&spec, Some(number)));
        if !result.metrics.iter().any(|m| m.name == spec.name) {
            if result.metrics.len() == MAX_METRICS {
                let message = format!("there are more than {MAX_METRICS} counters");
                return Err(entry.json.flaw(message));
            }
            result.metrics.push(spec);
        }
    }
    let mut trial = ForeignTrial::new(treatment, metrics);
    trial.started_at = result.measured_at.clone().unwrap_or_default();
    // The library runs all repetitions of a benchmark in the same process.
    let before = result.trials.iter().filter(|t| t.treatment == treatment).count();
    trial.evidence.push(Observation::Repetition { index: before as u32 });
    if let Some(n) = entry.json.get("iterations").amount()? {
        trial.notes.push(format!("{n} iterations, timed together"));
    }
    if let Some(error) = entry.error() {
        trial.fail(error);
        trial.metrics.clear();
        trial.notes.clear();
    }
    result.trials.push(trial);
    Ok(())
}

/// Returns the metric of a counter: the library defines two counters; those of the program have no
/// unit.
fn counter(name: &str) -> MetricSpec {
    let (unit, better) = match name {
        "bytes_per_second" => ("B/s", Better::Higher),
        "items_per_second" => ("items/s", Better::Higher),
        _ => ("1", Better::Neither),
    };
    unit::metric(name, unit, better, "a counter of the benchmark")
}

fn check_means(result: &mut ForeignResult, entries: &[BenchmarkEntry<'_>]) -> Result<(), Flaw> {
    for entry in entries.iter().filter(|e| e.aggregate(entries) == Some("mean")) {
        let base = entry.name.strip_suffix("_mean").unwrap_or(entry.name);
        let name = entry.run_name.unwrap_or(base);
        let is = |t: &ForeignTreatment| t.levels.values().any(|v| v.to_text() == name);
        let Some(treatment) = result.treatments.iter().position(is) else { continue };
        let of = result.trials.iter().filter(|t| t.treatment == treatment);
        let values: Vec<f64> = of.filter_map(|t| t.metrics.first()?.value).collect();
        let mean = entry.seconds("real_time")?;
        let figures = Figures { values: &values, mean, ..Figures::default() };
        result.hold(treatment, "real_time", &figures);
    }
    Ok(())
}

fn describe(result: &mut ForeignResult, context: &Json<'_>) -> Result<(), Flaw> {
    let text = |key: &str| context.get(key).text();
    result.host = text("host_name")?.map(str::to_owned);
    let date = text("date")?.and_then(|d| d.parse::<jiff::Timestamp>().ok());
    result.measured_at = date.map(|t| t.to_string());
    for (key, path) in [("num_cpus", "cpu.threads"), ("mhz_per_cpu", "cpu.mhz")] {
        if let Some(n) = context.get(key).amount()? {
            result.fact(path, n.to_string());
        }
    }
    if let Some(on) = context.get("cpu_scaling_enabled").value().as_bool() {
        result.fact("cpu.frequency.scaling", if on { "enabled" } else { "disabled" });
    }
    for cache in context.get("caches").items() {
        let letter = match cache.get("type").text()? {
            Some("Data") => "d",
            Some("Instruction") => "i",
            _ => "",
        };
        let stated = (cache.get("level").amount()?, cache.get("size").amount()?);
        let (Some(level), Some(size)) = stated else { continue };
        // In the kernel's notation, so that it can be compared with a system description of assay.
        let kib = size / 1024.0;
        let size = if kib.fract() == 0.0 { format!("{kib}K") } else { size.to_string() };
        result.fact(&format!("cpu.cache.l{level}{letter}.size"), size);
    }
    result.fact("program.executable", text("executable")?.unwrap_or(""));
    let build = text("library_build_type")?.unwrap_or("");
    if build == "debug" {
        result.notes.push(
            "The benchmark library itself was built for debugging, which can lengthen the times."
                .to_owned(),
        );
    }
    result.fact("program.library_build", build);
    Ok(())
}
