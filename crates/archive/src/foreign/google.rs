//! The JSON of Google Benchmark. A benchmark with its arguments (`BM_copy/64`) is a treatment, each
//! repetition a trial; the iterations inside a repetition are never counted. Aggregates are not read
//! as results: their mean is laid against that of the repetitions.

use std::collections::BTreeMap;

use assay_model::{Better, Kind, MetricSpec, Observation, Scalar};

use super::error::Flaw;
use super::result::{
    BENCHMARK, ForeignResult, ForeignTreatment, ForeignTrial, MAX_ENTRIES, disagreement, value,
};
use super::shape::Shape;
use super::tree::{Tree, joined};
use super::{decode, unit};

/// The most metrics of a file: the times and the counters of all its benchmarks.
const MAX_METRICS: usize = 200;

/// One entry of the file; what it has beside these are counters.
struct Entry<'a> {
    name: &'a str,
    run_name: Option<&'a str>,
    run_type: Option<&'a str>,
    aggregate_name: Option<&'a str>,
    time_unit: &'a str,
    tree: &'a Tree,
    path: String,
}

/// Numbers of an entry that are no counters.
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

impl<'a> Entry<'a> {
    fn of(tree: &'a Tree, path: String) -> Result<Self, Flaw> {
        let name = tree.object(&path)?.text("name", &path)?;
        Ok(Entry {
            name: name.ok_or_else(|| Flaw::field(&path, "it has no `name`"))?,
            run_name: tree.text("run_name", &path)?,
            run_type: tree.text("run_type", &path)?,
            aggregate_name: tree.text("aggregate_name", &path)?,
            time_unit: tree.text("time_unit", &path)?.unwrap_or("ns"),
            tree,
            path,
        })
    }

    fn benchmark(&self) -> &'a str {
        self.run_name.unwrap_or(self.name)
    }

    /// A time in seconds; `None` where there is none.
    fn seconds(&self, key: &str) -> Result<Option<f64>, Flaw> {
        let factor = unit::seconds(self.time_unit).ok_or_else(|| {
            let path = joined(&self.path, "time_unit");
            Flaw::field(path, format!("`{}` is not a unit of time", self.time_unit))
        })?;
        Ok(self.tree.amount(key, &self.path)?.map(|v| v * factor))
    }

    /// What it says went wrong.
    fn error(&self) -> Option<&'a str> {
        let is = |key: &str| self.tree.get(key) == Some(&Tree::Bool(true));
        if !is("error_occurred") && !is("skipped") {
            return None;
        }
        let message = ["error_message", "skip_message"].into_iter().find_map(|key| {
            match self.tree.get(key) {
                Some(Tree::Text(t)) if !t.is_empty() => Some(t.as_str()),
                _ => None,
            }
        });
        Some(message.unwrap_or("the benchmark reports an error"))
    }

    /// The aggregate's name; older versions have it in the name of the benchmark alone.
    fn aggregate(&self, all: &[Entry<'_>]) -> Option<&'a str> {
        match self.run_type {
            Some("aggregate") => Some(self.aggregate_name.unwrap_or("")),
            Some(_) => None,
            None => {
                let (base, suffix) = self.name.rsplit_once('_')?;
                let known = matches!(suffix, "mean" | "median" | "stddev" | "cv" | "BigO" | "RMS");
                (known && all.iter().any(|e| e.name == base)).then_some(suffix)
            }
        }
    }
}

pub(super) fn detect(bytes: &[u8]) -> bool {
    Shape::of(bytes).has(&["context", "benchmarks"])
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let file: Tree = decode::json(bytes)?;
    let context = file.get("context").unwrap_or(&Tree::Nothing).object("context")?;
    let benchmarks = file.get("benchmarks").map(Tree::items).unwrap_or_default();
    if benchmarks.len() > MAX_ENTRIES {
        let message = format!("it has more than {MAX_ENTRIES} entries");
        return Err(Flaw::field("benchmarks", message));
    }
    let entries =
        benchmarks.iter().enumerate().map(|(i, t)| Entry::of(t, format!("benchmarks[{i}]")));
    let entries: Vec<Entry<'_>> = entries.collect::<Result<_, Flaw>>()?;
    let mut result = ForeignResult {
        tool: "Google Benchmark",
        version: context.text("library_version", "context")?.map(str::to_owned),
        workload: "google-benchmark",
        metrics: vec![
            unit::metric("real_time", "s", Better::Lower, "wall time of one iteration"),
            unit::metric("cpu_time", "s", Better::Lower, "CPU time of one iteration"),
        ],
        ..ForeignResult::default()
    };
    describe(&mut result, context)?;
    for entry in entries.iter().filter(|e| e.aggregate(&entries).is_none()) {
        read_repetition(&mut result, entry)?;
    }
    if result.trials.is_empty() {
        return Err(Flaw::field(
            "benchmarks",
            "it holds no repetition; run without --benchmark_report_aggregates_only",
        ));
    }
    check_means(&mut result, &entries)?;
    Ok(vec![result])
}

fn read_repetition(result: &mut ForeignResult, entry: &Entry<'_>) -> Result<(), Flaw> {
    let mut params = BTreeMap::new();
    let threads = entry.tree.amount("threads", &entry.path)?;
    params.extend(threads.map(|t| ("threads".to_owned(), Scalar::Int(t as i64))));
    let level = (BENCHMARK.to_owned(), Scalar::Text(entry.benchmark().to_owned()));
    let treatment = result.treatment(ForeignTreatment { levels: BTreeMap::from([level]), params });
    let mut metrics = vec![
        value(&result.metrics[0], entry.seconds("real_time")?),
        value(&result.metrics[1], entry.seconds("cpu_time")?),
    ];
    for (name, number) in entry.tree.fields() {
        let Tree::Number(number) = number else { continue };
        if NO_COUNTERS.contains(&name.as_str()) {
            continue;
        }
        let spec = counter(name);
        metrics.push(value(&spec, Some(*number)));
        if !result.metrics.iter().any(|m| m.name == spec.name) {
            if result.metrics.len() == MAX_METRICS {
                let message = format!("there are more than {MAX_METRICS} counters");
                return Err(Flaw::field(&entry.path, message));
            }
            result.metrics.push(spec);
        }
    }
    let mut trial = ForeignTrial::new(treatment, metrics);
    trial.started_at = result.measured_at.clone().unwrap_or_default();
    // The library repeats a benchmark within the process that it began it in.
    let before = result.trials.iter().filter(|t| t.treatment == treatment).count();
    trial.evidence.push(Observation::Repetition { index: before as u32 });
    if let Some(n) = entry.tree.amount("iterations", &entry.path)? {
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

/// The two counters that the library defines, and those of the program, whose unit nobody tells.
fn counter(name: &str) -> MetricSpec {
    let (unit, better) = match name {
        "bytes_per_second" => ("B/s", Better::Higher),
        "items_per_second" => ("items/s", Better::Higher),
        _ => ("1", Better::Neither),
    };
    MetricSpec {
        name: name.to_owned(),
        unit: unit.to_owned(),
        better,
        kind: Kind::Measured,
        help: "a counter of the benchmark".to_owned(),
        merge: None,
        counted: false,
    }
}

fn check_means(result: &mut ForeignResult, entries: &[Entry<'_>]) -> Result<(), Flaw> {
    for entry in entries.iter().filter(|e| e.aggregate(entries) == Some("mean")) {
        let base = entry.name.strip_suffix("_mean").unwrap_or(entry.name);
        let name = entry.run_name.unwrap_or(base);
        let is = |t: &ForeignTreatment| t.levels.values().any(|v| v.to_text() == name);
        let reported = entry.seconds("real_time")?;
        let (Some(treatment), Some(reported)) = (result.treatments.iter().position(is), reported)
        else {
            continue;
        };
        let of = |t: &&ForeignTrial| t.treatment == treatment;
        let values: Vec<f64> =
            result.trials.iter().filter(of).filter_map(|t| t.metrics.first()?.value).collect();
        let computed = values.iter().sum::<f64>() / values.len() as f64;
        if let Some(seen) = disagreement("the mean in seconds is", reported, computed) {
            result.saw(treatment, &seen);
        }
    }
    Ok(())
}

fn describe(result: &mut ForeignResult, context: &Tree) -> Result<(), Flaw> {
    let text = |key: &str| context.text(key, "context");
    result.host = text("host_name")?.map(str::to_owned);
    let date = text("date")?.and_then(|d| d.parse::<jiff::Timestamp>().ok());
    result.measured_at = date.map(|t| t.to_string());
    for (key, path) in [("num_cpus", "cpu.threads"), ("mhz_per_cpu", "cpu.mhz")] {
        if let Some(n) = context.amount(key, "context")? {
            result.fact(path, n.to_string());
        }
    }
    if let Some(Tree::Bool(on)) = context.get("cpu_scaling_enabled") {
        result.fact("cpu.frequency.scaling", if *on { "enabled" } else { "disabled" });
    }
    for (i, cache) in context.get("caches").map(Tree::items).unwrap_or_default().iter().enumerate()
    {
        let at = format!("context.caches[{i}]");
        let letter = match cache.text("type", &at)? {
            Some("Data") => "d",
            Some("Instruction") => "i",
            _ => "",
        };
        let stated = (cache.amount("level", &at)?, cache.amount("size", &at)?);
        let (Some(level), Some(size)) = stated else { continue };
        // As the kernel writes it, so that it can be compared with a description of ours.
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
