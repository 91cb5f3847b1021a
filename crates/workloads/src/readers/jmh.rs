//! JMH's JSON. A benchmark with its parameters is a treatment. A fork is a trial, because it is a
//! process of its own, and its iterations are samples; the trial's value is their mean. Modes
//! measure different quantities, so each mode in a file gives a separate run.

use std::collections::BTreeMap;

use assay_model::{Better, MetricKind, MetricSpec, SampleRow, SampleSet, Scalar, SeriesKey};

use crate::readers::prelude::*;
use crate::readers::result::mean;

/// A metric of an entry, in assay's unit.
struct Metric {
    unit: String,
    score: Option<f64>,
    /// Pairs of percent and value.
    percentiles: Vec<(f64, f64)>,
    /// Mean of each iteration, by fork; `None` for an iteration without one.
    forks: Vec<Vec<Option<f64>>>,
    /// True if iterations are means over samples whose number varies.
    sampled: bool,
}

impl Metric {
    fn from_json(json: &Json<'_>) -> Result<Self, Flaw> {
        let (factor, unit) = unit::base(1.0, json.name("scoreUnit")?);
        let (raw, bins) = (json.get("rawData"), json.get("rawDataHistogram"));
        let sampled = raw.value().is_null();
        let iteration = |json: Json<'_>| -> Result<Option<f64>, Flaw> {
            let value = if sampled { mean_of_bins(&json)? } else { score(&json)? };
            Ok(value.map(|v| v * factor))
        };
        let forks = if sampled { bins } else { raw };
        let forks = forks
            .items()
            .map(|fork| fork.items().map(iteration).collect())
            .collect::<Result<Vec<Vec<_>>, Flaw>>()?;
        let score = score(&json.get("score"))?.map(|v| v * factor);
        let mut percentiles = Vec::new();
        for (percent, json) in json.get("scorePercentiles").fields() {
            let value = self::score(&json)?.map(|v| v * factor);
            percentiles.extend(percent.parse().ok().zip(value));
        }
        Ok(Metric { unit, score, percentiles, forks, sampled })
    }
}

/// Reads a number; `None` for the texts that JMH writes in place of a number that it could not
/// compute.
fn score(json: &Json<'_>) -> Result<Option<f64>, Flaw> {
    if matches!(json.text_or_empty(), "NaN" | "+INF" | "-INF") { Ok(None) } else { json.number() }
}

/// Returns the mean of an iteration's samples, given as `[value, count]` pairs.
fn mean_of_bins(bins: &Json<'_>) -> Result<Option<f64>, Flaw> {
    let (mut sum, mut count) = (Some(0.0), 0.0);
    for bin in bins.items() {
        let pair: Vec<Json<'_>> = bin.items().collect();
        let [value, n] = pair.as_slice() else {
            return Err(bin.flaw("it is not a value and its count"));
        };
        let n = n.amount()?.ok_or_else(|| n.flaw("it is not a number"))?;
        sum = sum.zip(score(value)?).map(|(sum, v)| sum + v * n);
        count += n;
    }
    Ok(sum.filter(|_| count > 0.0).map(|sum| sum / count))
}

pub(crate) fn detect(bytes: &[u8]) -> bool {
    json::has_keys(bytes, &["[].benchmark", "[].mode"])
}

pub(crate) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let file = json::value(bytes)?;
    let mut results: Vec<ForeignResult> = Vec::new();
    for entry in Json::root(&file).entries()? {
        let (mode, primary) =
            (entry.name("mode")?, Metric::from_json(&entry.get("primaryMetric"))?);
        let found = results.iter().position(|r| r.part == mode);
        if found.is_none() {
            results.push(part(&entry, mode, &primary)?);
        }
        let at = found.unwrap_or(results.len() - 1);
        read_entry(&mut results[at], &entry, &primary)?;
    }
    match results.as_mut_slice() {
        [] => return Err(Flaw::whole("it holds no benchmark")),
        [only] => only.part.clear(),
        _ => {}
    }
    Ok(results)
}

/// Returns an empty result for a mode.
fn part(entry: &Json<'_>, mode: &str, primary: &Metric) -> Result<ForeignResult, Flaw> {
    let (name, better, help) = match mode {
        "thrpt" => ("throughput", Better::Higher, "mean throughput of a fork's iterations"),
        "avgt" => ("time", Better::Lower, "mean time of an operation over a fork's iterations"),
        "sample" => ("time", Better::Lower, "mean sampled time of an operation of a fork"),
        "ss" => ("time", Better::Lower, "mean time of a fork's single shots"),
        other => return Err(Flaw::whole(format!("`{other}` is not a mode of JMH"))),
    };
    Ok(ForeignResult {
        part: mode.to_owned(),
        tool: "JMH",
        version: entry.get("jmhVersion").text()?.map(str::to_owned),
        workload: "jmh",
        metrics: vec![derived(name, &primary.unit, better, help)],
        notes: vec![
            "Each trial is a fork; its value is the arithmetic mean of its iterations, which are \
             samples and do not count. JMH does not record when a fork ran."
                .to_owned(),
        ],
        ..ForeignResult::default()
    })
}

fn derived(name: &str, unit: &str, better: Better, help: &str) -> MetricSpec {
    MetricSpec { kind: MetricKind::Derived, ..unit::metric(name, unit, better, help) }
}

fn read_entry(result: &mut ForeignResult, entry: &Json<'_>, primary: &Metric) -> Result<(), Flaw> {
    let json = entry.get("primaryMetric");
    let unit = &result.metrics[0].unit;
    if primary.unit != *unit {
        let message =
            format!("its unit is {}, and that of the benchmarks before it {unit}", primary.unit);
        return Err(json.get("scoreUnit").flaw(message));
    }
    if primary.forks.iter().all(Vec::is_empty) {
        return Err(json.flaw("it has no raw data, and a mean alone is not a trial"));
    }
    let treatment = treatment(entry)?;
    let treatment = result.treatment(treatment);
    result.within_limits(primary.forks.len())?;
    describe(result, entry)?;
    let secondary = entry.get("secondaryMetrics");
    let secondary: Vec<(&str, Metric)> = secondary
        .fields()
        .map(|(name, json)| Ok((name, Metric::from_json(&json)?)))
        .collect::<Result<_, Flaw>>()?;
    for (f, iterations) in primary.forks.iter().enumerate() {
        if let Some(i) = iterations.iter().position(|v| v.is_some_and(|v| v < 0.0)) {
            let raw = json.get("rawData").items().nth(f).and_then(|fork| fork.items().nth(i));
            return Err(raw.unwrap_or(json).flaw("a score is negative"));
        }
        let values: Option<Vec<f64>> = iterations.iter().copied().collect();
        let whole = values.as_deref().and_then(mean);
        let mut trial = ForeignTrial::new(treatment, vec![value(&result.metrics[0], whole)]);
        if whole.is_none() {
            // A benchmark that throws an exception has no score.
            trial.notes.push("an iteration of this fork has no score".to_owned());
        }
        for (name, metric) in &secondary {
            let values =
                metric.forks.get(f).and_then(|of| of.iter().copied().collect::<Option<Vec<f64>>>());
            if let Some(mean) = values.as_deref().and_then(mean) {
                let name = name.trim_start_matches('·');
                let spec = derived(name, &metric.unit, Better::Neither, "of a profiler");
                trial.metrics.push(value(&spec, Some(mean)));
            }
        }
        if let Some(values) = values {
            keep_iterations(entry, &values, &primary.unit, &mut trial);
        }
        result.trials.push(trial);
    }
    // JMH's score is the mean of all iterations of all forks.
    let all: Option<Vec<f64>> = primary.forks.iter().flatten().copied().collect();
    let at = |percent: f64| primary.percentiles.iter().find(|p| p.0 == percent).map(|p| p.1);
    let figures = Figures {
        values: all.as_deref().filter(|_| !primary.sampled).unwrap_or_default(),
        mean: primary.score,
        min: at(0.0),
        max: at(100.0),
        percentiles: primary.percentiles.clone(),
        ..Figures::default()
    };
    let name = result.metrics[0].name.clone();
    result.hold(treatment, &name, &figures);
    Ok(())
}

/// Stores the iterations as samples on the fork's own clock, spaced by the configured time per
/// iteration.
fn keep_iterations(entry: &Json<'_>, values: &[f64], unit: &str, trial: &mut ForeignTrial) {
    let seconds = || {
        let (number, unit) = entry.get("measurementTime").text_or_empty().trim().split_once(' ')?;
        Some(number.parse::<f64>().ok()? * unit::seconds(unit)?)
    };
    let seconds =
        seconds().filter(|s| entry.get("mode").text_or_empty() != "ss" && *s > 0.0 && *s < 1e6);
    let Some(seconds) = seconds else {
        let list: Vec<String> = values.iter().map(f64::to_string).collect();
        trial.notes.push(format!("iterations in {unit}: {}", list.join(", ")));
        return;
    };
    let row = |(i, value): (usize, &f64)| SampleRow {
        t_ns: ((i + 1) as f64 * seconds * 1e9) as u64,
        series: 0,
        value: *value,
    };
    trial.samples = Some(SampleSet {
        series: vec![SeriesKey {
            monitor: "jmh".to_owned(),
            subject: String::new(),
            field: "iteration".to_owned(),
            unit: unit.to_owned(),
        }],
        rows: values.iter().enumerate().map(row).collect(),
    });
    trial
        .not_seen
        .push("the ends of the iterations: their times are the configured ones".to_owned());
}

fn treatment(entry: &Json<'_>) -> Result<ForeignTreatment, Flaw> {
    let mut levels = BTreeMap::from([(BENCHMARK.to_owned(), entry.name("benchmark")?.into())]);
    for (key, level) in entry.get("params").fields() {
        levels.insert(key.to_owned(), Scalar::parse(level.text()?.unwrap_or_default()));
    }
    let mut params = BTreeMap::new();
    for name in ["threads", "warmupIterations", "warmupBatchSize", "measurementBatchSize"] {
        let number = entry.get(name).number()?;
        params.extend(number.map(|n| (name.to_owned(), Scalar::Int(n as i64))));
    }
    for name in ["jdkVersion", "vmName", "vmVersion", "warmupTime", "measurementTime"] {
        let text = entry.get(name).text()?;
        params.extend(text.map(|t| (name.to_owned(), Scalar::from(t))));
    }
    let arguments = entry.get("jvmArgs");
    let arguments = arguments.items().map(|a| Ok(a.text()?.unwrap_or_default()));
    let arguments = arguments.collect::<Result<Vec<_>, Flaw>>()?;
    if !arguments.is_empty() {
        params.insert("jvmArgs".to_owned(), Scalar::Text(arguments.join(" ")));
    }
    Ok(ForeignTreatment { levels, params })
}

fn describe(result: &mut ForeignResult, entry: &Json<'_>) -> Result<(), Flaw> {
    let text = |key: &str| entry.get(key).text().map(Option::unwrap_or_default);
    let facts = [
        ("toolchain.java.path", text("jvm")?.to_owned()),
        ("toolchain.java.version", text("jdkVersion")?.to_owned()),
        ("toolchain.java.vm", format!("{} {}", text("vmName")?, text("vmVersion")?)),
    ];
    for (path, value) in facts {
        match result.facts.get(path).and_then(|f| f.value()) {
            // The treatments' parameters tell which of the values applies.
            Some(before) if !before.split(" and ").any(|b| b == value.trim()) => {
                let both = format!("{before} and {}", value.trim());
                result.fact(path, both);
            }
            Some(_) => {}
            None => result.fact(path, value),
        }
    }
    Ok(())
}
