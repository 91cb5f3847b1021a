//! JMH's JSON. A benchmark with its parameters is a treatment, a fork a trial: a fork is a process of
//! its own, and the iterations in it are samples. A trial's value is the mean of its fork's iterations.
//! Modes measure different things, so each mode of a file gives a run of its own.

use std::collections::BTreeMap;

use assay_model::{
    Better, Kind, MetricSpec, SampleRow, SampleSet, Scalar, SeriesKey, ValidationResult,
};
use serde::Deserialize;

use super::decode::Bounded;
use super::error::Flaw;
use super::result::{
    BENCHMARK, ForeignResult, ForeignTreatment, ForeignTrial, MAX_ENTRIES, MAX_TRIALS,
    disagreement, value,
};
use super::shape::Shape;
use super::{decode, unit};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    benchmark: String,
    mode: String,
    jmh_version: Option<String>,
    threads: Option<i64>,
    jvm: Option<String>,
    #[serde(default)]
    jvm_args: Vec<String>,
    jdk_version: Option<String>,
    vm_name: Option<String>,
    vm_version: Option<String>,
    warmup_iterations: Option<i64>,
    warmup_time: Option<String>,
    warmup_batch_size: Option<i64>,
    measurement_time: Option<String>,
    measurement_batch_size: Option<i64>,
    #[serde(default)]
    params: BTreeMap<String, String>,
    primary_metric: Metric,
    #[serde(default)]
    secondary_metrics: BTreeMap<String, Metric>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metric {
    score: Number,
    score_unit: String,
    /// By fork, by iteration.
    raw_data: Option<Bounded<Vec<Number>, MAX_TRIALS>>,
    /// By fork, by iteration: `[value, count]`.
    raw_data_histogram: Option<Bounded<Vec<Bins>, MAX_TRIALS>>,
}

type Bins = Vec<(Number, u64)>;

/// A number, or the text `"NaN"`, as JMH writes a number that it could not have.
#[derive(Deserialize, Clone, Copy)]
#[serde(try_from = "serde_json::Value")]
struct Number(Option<f64>);

impl TryFrom<serde_json::Value> for Number {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<Self, String> {
        use serde_json::Value;
        match &value {
            Value::Number(n) => Ok(Number(n.as_f64())),
            Value::Null => Ok(Number(None)),
            Value::String(s) if matches!(s.as_str(), "NaN" | "+INF" | "-INF") => Ok(Number(None)),
            other => Err(format!("{other} is not a number")),
        }
    }
}

impl Metric {
    /// The mean of each iteration, by fork; `None` where one could not be had.
    fn iterations(&self) -> Vec<Vec<Option<f64>>> {
        if let Some(Bounded(forks)) = &self.raw_data {
            return forks.iter().map(|f| f.iter().map(|n| n.0).collect()).collect();
        }
        let Some(Bounded(forks)) = &self.raw_data_histogram else { return Vec::new() };
        let mean = |bins: &Bins| {
            let count: u64 = bins.iter().map(|(_, n)| *n).sum();
            let sum: Option<f64> = bins.iter().map(|(v, n)| Some(v.0? * *n as f64)).sum();
            sum.filter(|_| count > 0).map(|sum| sum / count as f64)
        };
        forks.iter().map(|iterations| iterations.iter().map(mean).collect()).collect()
    }
}

pub(super) fn detect(bytes: &[u8]) -> bool {
    Shape::of(bytes).has(&["[].benchmark", "[].mode"])
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let Bounded(entries) = decode::json::<Bounded<Entry, MAX_ENTRIES>>(bytes)?;
    let mut results: Vec<ForeignResult> = Vec::new();
    for (i, entry) in entries.iter().enumerate() {
        let found = results.iter().position(|r| r.part == entry.mode);
        if found.is_none() {
            results.push(part(entry)?);
        }
        let at = found.unwrap_or(results.len() - 1);
        read_entry(&mut results[at], entry, &format!("[{i}]"))?;
    }
    if results.is_empty() {
        return Err(Flaw::whole("it holds no benchmark"));
    }
    if let [only] = results.as_mut_slice() {
        only.part.clear();
    }
    Ok(results)
}

/// The run that holds a mode.
fn part(entry: &Entry) -> Result<ForeignResult, Flaw> {
    let (_, unit) = unit::base(1.0, &entry.primary_metric.score_unit);
    let (name, better, help) = match entry.mode.as_str() {
        "thrpt" => ("throughput", Better::Higher, "mean throughput of a fork's iterations"),
        "avgt" => ("time", Better::Lower, "mean time of an operation over a fork's iterations"),
        "sample" => ("time", Better::Lower, "mean sampled time of an operation of a fork"),
        "ss" => ("time", Better::Lower, "mean time of a fork's single shots"),
        other => return Err(Flaw::whole(format!("`{other}` is not a mode of JMH"))),
    };
    let spec = MetricSpec { kind: Kind::Derived, ..unit::metric(name, &unit, better, help) };
    Ok(ForeignResult {
        part: entry.mode.clone(),
        tool: "JMH",
        version: entry.jmh_version.clone(),
        workload: "jmh",
        metrics: vec![spec],
        notes: vec![
            "Each trial is a fork; its value is the arithmetic mean of its iterations, which are \
             samples and do not count. JMH does not record when a fork ran."
                .to_owned(),
        ],
        ..ForeignResult::default()
    })
}

fn read_entry(result: &mut ForeignResult, entry: &Entry, path: &str) -> Result<(), Flaw> {
    let primary = &entry.primary_metric;
    let (_, unit) = unit::base(1.0, &primary.score_unit);
    if unit != result.metrics[0].unit {
        let message = format!(
            "its unit is {unit}, and that of the benchmarks before it {}",
            result.metrics[0].unit
        );
        return Err(Flaw::field(format!("{path}.primaryMetric.scoreUnit"), message));
    }
    let forks = primary.iterations();
    if forks.iter().all(Vec::is_empty) {
        let message = "it has no raw data, and a mean alone is no trial";
        return Err(Flaw::field(format!("{path}.primaryMetric"), message));
    }
    let treatment = result.treatment(treatment(entry));
    result.within_limits(forks.len())?;
    describe(result, entry);
    for (f, iterations) in forks.iter().enumerate() {
        let negative = iterations.iter().position(|v| v.is_some_and(|v| v < 0.0));
        if let Some(i) = negative {
            let path = format!("{path}.primaryMetric.rawData[{f}][{i}]");
            return Err(Flaw::field(path, "no score is negative"));
        }
        let factor = unit::base(1.0, &primary.score_unit).0;
        let values: Option<Vec<f64>> = iterations.iter().map(|v| Some((*v)? * factor)).collect();
        let mean = values.as_ref().and_then(|v| mean(v));
        let mut trial = ForeignTrial::new(treatment, vec![value(&result.metrics[0], mean)]);
        // A benchmark that throws has no score.
        trial.validation = ValidationResult::NotReached;
        if mean.is_none() {
            trial.notes.push("an iteration of this fork has no score".to_owned());
        }
        secondary(entry, f, &mut trial);
        keep_iterations(entry, values.as_deref(), &unit, &mut trial);
        result.trials.push(trial);
    }
    check_score(result, treatment, primary);
    Ok(())
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// JMH's score is the mean of all iterations of all forks.
fn check_score(result: &mut ForeignResult, treatment: usize, primary: &Metric) {
    if primary.raw_data.is_none() {
        return; // a mean over samples, which iterations have more and fewer of
    }
    let all: Option<Vec<f64>> = primary.iterations().into_iter().flatten().collect();
    let computed = all.as_deref().and_then(mean);
    if let (Some(reported), Some(computed)) = (primary.score.0, computed)
        && let Some(seen) = disagreement("the score is", reported, computed)
    {
        result.saw(treatment, &seen);
    }
}

fn secondary(entry: &Entry, fork: usize, trial: &mut ForeignTrial) {
    for (name, metric) in &entry.secondary_metrics {
        let iterations = metric.iterations();
        let values: Option<Vec<f64>> =
            iterations.get(fork).and_then(|of| of.iter().copied().collect());
        let (factor, unit) = unit::base(1.0, &metric.score_unit);
        let spec = MetricSpec {
            kind: Kind::Derived,
            ..unit::metric(name.trim_start_matches('·'), &unit, Better::Neither, "of a profiler")
        };
        if let Some(mean) = values.as_deref().and_then(mean) {
            trial.metrics.push(value(&spec, Some(mean * factor)));
        }
    }
}

/// Keeps the iterations as samples on the fork's own clock, by the time that each was to take.
fn keep_iterations(entry: &Entry, values: Option<&[f64]>, unit: &str, trial: &mut ForeignTrial) {
    let time = entry.measurement_time.as_deref().filter(|_| entry.mode != "ss");
    let seconds = time.and_then(|text| {
        let (number, unit) = text.trim().split_once(' ')?;
        Some(number.parse::<f64>().ok()? * unit::seconds(unit)?)
    });
    let Some(values) = values else { return };
    let Some(seconds) = seconds.filter(|s| *s > 0.0 && *s < 1e6) else {
        let list: Vec<String> = values.iter().map(f64::to_string).collect();
        trial.notes.push(format!("iterations in {unit}: {}", list.join(", ")));
        return;
    };
    let at = |i: usize| ((i + 1) as f64 * seconds * 1e9) as u64;
    trial.samples = Some(SampleSet {
        series: vec![SeriesKey {
            monitor: "jmh".to_owned(),
            subject: String::new(),
            field: "iteration".to_owned(),
            unit: unit.to_owned(),
        }],
        rows: values
            .iter()
            .enumerate()
            .map(|(i, v)| SampleRow { t_ns: at(i), series: 0, value: *v })
            .collect(),
    });
    trial.not_seen.push(
        "when each iteration ended: the times are those that the iterations were to take"
            .to_owned(),
    );
}

fn treatment(entry: &Entry) -> ForeignTreatment {
    let mut levels =
        BTreeMap::from([(BENCHMARK.to_owned(), Scalar::Text(entry.benchmark.clone()))]);
    levels.extend(entry.params.iter().map(|(k, v)| (k.clone(), Scalar::parse(v))));
    let mut params = BTreeMap::new();
    let numbers = [
        ("threads", entry.threads),
        ("warmupIterations", entry.warmup_iterations),
        ("warmupBatchSize", entry.warmup_batch_size),
        ("measurementBatchSize", entry.measurement_batch_size),
    ];
    for (name, number) in numbers {
        params.extend(number.map(|n| (name.to_owned(), Scalar::Int(n))));
    }
    let texts = [
        ("jdkVersion", &entry.jdk_version),
        ("vmName", &entry.vm_name),
        ("vmVersion", &entry.vm_version),
        ("warmupTime", &entry.warmup_time),
        ("measurementTime", &entry.measurement_time),
    ];
    for (name, text) in texts {
        params.extend(text.clone().map(|t| (name.to_owned(), Scalar::Text(t))));
    }
    if !entry.jvm_args.is_empty() {
        params.insert("jvmArgs".to_owned(), Scalar::Text(entry.jvm_args.join(" ")));
    }
    ForeignTreatment { levels, params }
}

fn describe(result: &mut ForeignResult, entry: &Entry) {
    let vm = [&entry.vm_name, &entry.vm_version].map(|t| t.clone().unwrap_or_default()).join(" ");
    let facts = [
        ("toolchain.java.path", entry.jvm.clone().unwrap_or_default()),
        ("toolchain.java.version", entry.jdk_version.clone().unwrap_or_default()),
        ("toolchain.java.vm", vm),
    ];
    for (path, value) in facts {
        let before = result.facts.get(path).and_then(|f| f.value()).map(str::to_owned);
        match before {
            // Which of them a fact names is in the treatments' parameters.
            Some(before) if !before.split(" and ").any(|b| b == value.trim()) => {
                result.fact(path, format!("{before} and {}", value.trim()));
            }
            Some(_) => {}
            None => result.fact(path, value),
        }
    }
}
