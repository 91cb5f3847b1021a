//! Reads result files in a format that assay knows (`[result]`): the metrics and notes that they
//! add to a trial, and their verdict on the result.

use std::fs;
use std::path::{Path, PathBuf};

use crate::readers::speccpu::{SpecResult, SpecRun, report, rsf};
use assay_model::{Better, MetricKind, MetricValue, ValidationResult};

use super::format::{Item, ResultFile, ResultReader};
use super::metrics::bytes_of;
use super::template::{Values, render};

/// Content of the result files of a trial.
#[derive(Debug)]
pub(crate) struct Results {
    base: Tuning,
    peak: Tuning,
    /// Metrics of each benchmark, and the overall metrics under their own names.
    pub metrics: Vec<MetricValue>,
    /// Notes for the record.
    pub notes: Vec<String>,
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
    /// Returns a summary number of the whole result.
    ///
    /// # Errors
    /// Returns the reason if there is no such number.
    pub fn item(&self, item: Item) -> Result<f64, String> {
        let first = if self.base.ran || !self.peak.ran { &self.base } else { &self.peak };
        match item {
            Item::Ratio => &first.ratio,
            Item::Time => &first.time,
            Item::PeakRatio => &self.peak.ratio,
            Item::PeakTime => &self.peak.time,
        }
        .clone()
    }
}

/// Reads the files that the table `[result]` names.
///
/// # Errors
/// Returns a message if the files are missing or in another format.
pub(crate) fn read(file: &ResultFile, values: &Values) -> Result<Results, String> {
    let path = PathBuf::from(render(file.path.get_ref(), values)?);
    match file.reader {
        ResultReader::SpecCpu => {
            let results =
                spec_files(&path)?.iter().map(|p| spec_file(p)).collect::<Result<Vec<_>, _>>()?;
            Ok(spec_results(&results))
        }
    }
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
        (before, Ok(_)) => {
            let mut checked = "SPEC's tools accepted every output".to_owned();
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
    let mut read = Results { base, peak, metrics, notes: Vec::new(), wrong: Vec::new() };
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
