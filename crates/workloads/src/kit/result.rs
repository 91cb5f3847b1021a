//! Reads results in a format that assay knows (`[result]`): the metrics and notes that they add to
//! a trial, and their verdict on the result.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::FinishedProgram;
use crate::readers::speccpu::{SpecResult, SpecRun, report, rsf};
use crate::readers::{self, BENCHMARKS, ForeignFormat, geometric_mean, read_output, stream};
use assay_model::{Better, MetricKind, MetricValue, Observation, ValidationResult};

use super::format::ResultFile;
use super::metrics::bytes_of;
use super::template::{Values, render};

/// Reader of the results of SPEC CPU, which is no tool that prints them.
const SPEC_CPU: &str = "spec-cpu";
/// Summary numbers of SPEC CPU: the geometric mean of the ratios and the sum of the times, of base
/// (or of peak if base was not run), and of peak.
const SPEC_ITEMS: [&str; 4] = ["ratio", "time", "peak_ratio", "peak_time"];

/// Results of a trial.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// Numbers over all benchmarks by name, or the reason why they are missing.
    summary: BTreeMap<&'static str, Result<f64, String>>,
    /// Metrics of each benchmark, and the overall metrics under their own names.
    pub metrics: Vec<MetricValue>,
    /// Notes for the record.
    pub notes: Vec<String>,
    pub evidence: Vec<Observation>,
    /// Reason why the result is valid, in the words of the reader; `None` if it has no verdict.
    accepted: Option<&'static str>,
    /// Reasons why the result is invalid, in the words of the file; empty if it is valid.
    wrong: Vec<String>,
}

/// Results of all benchmarks in one tuning (base or peak).
#[derive(Debug)]
struct Tuning {
    ran: bool,
    /// Geometric mean of the ratios, or the reason why it is missing.
    ratio: Result<f64, String>,
    /// Sum of the times in seconds, or the reason why it is missing.
    time: Result<f64, String>,
}

impl Results {
    /// Returns a number of the result: one over all benchmarks, or a metric in `unit`.
    ///
    /// # Errors
    /// Returns the reason if there is no such number.
    pub fn item(&self, item: &str, unit: &str) -> Result<f64, String> {
        if let Some(found) = self.summary.get(item) {
            return found.clone();
        }
        let Some(metric) = self.metrics.iter().find(|m| m.name == item) else {
            let names: Vec<&str> = self.metrics.iter().take(12).map(|m| m.name.as_str()).collect();
            return Err(format!("the result has no `{item}`; it has {}, ...", names.join(", ")));
        };
        if metric.unit != unit {
            return Err(format!("`{item}` is in {}, not in {unit}", metric.unit));
        }
        metric.value.ok_or_else(|| format!("the tool gives no value of `{item}`"))
    }
}

/// Returns the mistake in a table `[result]`, if it has one.
pub(crate) fn mistake(file: &ResultFile) -> Option<String> {
    let name = file.reader.get_ref();
    if name == SPEC_CPU {
        let missing = file.path.is_none();
        return missing
            .then(|| "the reader `spec-cpu` needs `path`, a file or a folder".to_owned());
    }
    if tool(name).is_some() {
        return None;
    }
    let live = readers::FORMATS.iter().filter(|f| f.live).map(|f| f.name);
    let known: Vec<&str> = [SPEC_CPU].into_iter().chain(live).collect();
    Some(format!("there is no reader `{name}`; there are {}", known.join(", ")))
}

/// Returns the mistake in the `item` of a metric, if it has one.
pub(crate) fn item_mistake(file: &ResultFile, item: &str) -> Option<String> {
    let known = file.reader.get_ref() != SPEC_CPU || SPEC_ITEMS.contains(&item);
    (!known).then(|| format!("`{item}` is no number of spec-cpu; use {}", SPEC_ITEMS.join(", ")))
}

fn tool(name: &str) -> Option<&'static ForeignFormat> {
    readers::format(name).filter(|f| f.live)
}

/// Reads the results that the table `[result]` names.
///
/// # Errors
/// Returns a message if they are missing or in another format.
pub(crate) fn read(
    file: &ResultFile,
    values: &Values,
    finished: &FinishedProgram<'_>,
) -> Result<Results, String> {
    let path = file.path.as_ref().map(|path| render(path.get_ref(), values)).transpose()?;
    let path = path.map(PathBuf::from);
    let Some(format) = tool(file.reader.get_ref()) else {
        let files = spec_files(&path.unwrap_or_default())?;
        let results = files.iter().map(|p| spec_file(p)).collect::<Result<Vec<_>, _>>()?;
        return Ok(spec_results(&results));
    };
    let read = if let Some(path) = &path {
        read_output(path, &bytes_of(path)?, Some(format))
    } else {
        let found = stream(finished.stdout, finished.stderr, Some(format));
        if found == finished.stdout && !finished.stdout_whole {
            return Err("the output is too long to read (2 MiB are kept); use a file".into());
        }
        read_output(Path::new("the output"), found, Some(format))
    };
    let mut read = read.map_err(|e| e.to_string())?;
    let mean = geometric_mean(&read.metrics, &mut read.notes).value;
    let mean = mean.ok_or_else(|| {
        "the benchmarks have several units or directions, or one has no positive value".to_owned()
    });
    Ok(Results {
        summary: BTreeMap::from([(BENCHMARKS, mean)]),
        metrics: read.metrics,
        notes: read.notes.into_iter().chain(read.failed).collect(),
        evidence: read.evidence,
        ..Results::default()
    })
}

/// Combines the verdict of the files with that of the other checks; a failure of those takes
/// precedence.
pub(crate) fn verdict(
    results: &Result<Results, String>,
    before: ValidationResult,
) -> ValidationResult {
    let failed = |detail: String| ValidationResult::Failed { detail };
    match (before, results) {
        (before @ ValidationResult::Failed { .. }, _) => before,
        (_, Err(reason)) => failed(format!("cannot read the result: {reason}")),
        (_, Ok(results)) if !results.wrong.is_empty() => failed(results.wrong.join("; ")),
        (before, Ok(results)) => {
            let Some(accepted) = results.accepted else { return before };
            let mut checked = accepted.to_owned();
            if let ValidationResult::Passed { detail } = before {
                checked = format!("{detail}; {checked}");
            }
            ValidationResult::Passed { detail: checked }
        }
    }
}

/// Returns the file itself, or all raw files of a folder.
fn spec_files(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unread = |e: std::io::Error| format!("read {}: {e}", path.display());
    let entries = fs::read_dir(path).map_err(unread)?.collect::<Result<Vec<_>, _>>();
    let mut files: Vec<PathBuf> = entries.map_err(unread)?.into_iter().map(|e| e.path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "rsf"));
    files.sort();
    if files.is_empty() {
        return Err(format!("there is no raw file (.rsf) in {}", path.display()));
    }
    Ok(files)
}

fn spec_file(path: &Path) -> Result<SpecResult, String> {
    let bytes = bytes_of(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let read = if rsf::detect(&text) {
        rsf::read(&text)
    } else if report::detect(&text) {
        report::read(&text)
    } else {
        return Err(format!(
            "{} is neither a raw file nor a CSV report of SPEC CPU",
            path.display()
        ));
    };
    read.map_err(|flaw| format!("{}{flaw}", path.display()))
}

fn spec_results(results: &[SpecResult]) -> Results {
    let mut metrics = Vec::new();
    let [base, peak] = ["base", "peak"].map(|tune| spec_tuning(results, tune, &mut metrics));
    let first = if base.ran || !peak.ran { &base } else { &peak };
    let numbers = [first.ratio.clone(), first.time.clone(), peak.ratio, peak.time];
    let summary = SPEC_ITEMS.into_iter().zip(numbers).collect();
    let accepted = Some("SPEC's tools accepted every output");
    let mut read = Results { summary, metrics, accepted, ..Results::default() };
    for result in results {
        spec_verdict(result, &mut read);
    }
    read.notes.push(
        "SPEC, SPECrate and SPECspeed are trademarks of the Standard Performance Evaluation \
         Corporation (spec.org); its fair-use rule lists what must be printed with its metrics"
            .to_owned(),
    );
    read
}

/// Returns the summary of one tuning and adds the results of its benchmarks to `metrics`.
fn spec_tuning(results: &[SpecResult], tune: &str, metrics: &mut Vec<MetricValue>) -> Tuning {
    let chosen: Vec<&SpecRun> =
        results.iter().flat_map(|r| r.selected(tune).into_values()).collect();
    for run in &chosen {
        let value = |what: &str, value, unit: &str, better| {
            let name = format!("{}.{tune}.{what}", run.benchmark);
            MetricValue::new(name, value, unit, better, MetricKind::Measured)
        };
        metrics.push(value("ratio", run.ratio, "1", Better::Higher));
        metrics.push(value("time", run.time, "s", Better::Lower));
    }
    let mean = |all: Vec<f64>| {
        assay_stats::means::geometric(&all).ok_or_else(|| "a ratio is 0".to_owned())
    };
    Tuning {
        ran: !chosen.is_empty(),
        ratio: over(&chosen, tune, "ratio", |run| run.ratio).and_then(mean),
        time: over(&chosen, tune, "time", |run| run.time).map(|all| all.iter().sum()),
    }
}

/// Returns the value of every benchmark, or an error if one is missing.
fn over(
    chosen: &[&SpecRun],
    tune: &str,
    what: &str,
    of: impl Fn(&SpecRun) -> Option<f64>,
) -> Result<Vec<f64>, String> {
    if chosen.is_empty() {
        return Err(format!("{tune} was not run"));
    }
    let value =
        |run: &&SpecRun| of(run).ok_or_else(|| format!("{} ({tune}) has no {what}", run.benchmark));
    chosen.iter().map(value).collect()
}

/// Copies the overall metrics, the errors that SPEC's tools report, and the status of the run
/// (invalid or estimate).
fn spec_verdict(result: &SpecResult, read: &mut Results) {
    for (name, mean) in &result.overall {
        let (better, kind) = (Better::Higher, MetricKind::Quoted);
        read.metrics.push(MetricValue::new(name.clone(), Some(*mean), "1", better, kind));
    }
    for run in result.runs.iter().filter(|r| !r.succeeded()) {
        let mut words = format!("{} ({}): {}", run.benchmark, run.tune, run.status_in_words());
        for error in &run.errors {
            words = format!("{words}: {error}");
        }
        read.wrong.push(words);
    }
    if result.estimate {
        read.notes.push(
            "the run is not a reportable one: SPEC calls its numbers estimates, and requires that \
             label next to each of them (SPEC CPU, run and reporting rules)"
                .to_owned(),
        );
        read.notes.extend(result.errors.iter().map(|e| format!("SPEC's tools report: {e}")));
    } else if result.invalid || !result.errors.is_empty() {
        read.wrong.push("SPEC's tools call it an invalid run".to_owned());
        read.wrong.extend(result.errors.iter().cloned());
    }
}
