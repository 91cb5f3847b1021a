//! Reads result files of a form that assay knows (`[result]`): what they add to a trial's metrics and
//! notes, and whether they say that its result counts.

use std::fs;
use std::path::{Path, PathBuf};

use assay_model::{Better, Kind, MetricValue, ValidationResult};
use assay_speccpu::{SpecResult, SpecRun, report, rsf};

use super::format::{Item, ResultFile, ResultReader};
use super::metrics::bytes_of;
use super::template::{Values, render};

/// What the result files of a trial say.
#[derive(Debug)]
pub(crate) struct Results {
    base: Tuning,
    peak: Tuning,
    /// The metrics of each benchmark, and the overall ones under their own names.
    pub metrics: Vec<MetricValue>,
    /// What a reader of the record should know.
    pub notes: Vec<String>,
    /// Why the result does not count, in the words of the file; empty when it does.
    wrong: Vec<String>,
}

/// The numbers of all benchmarks in one tuning.
#[derive(Debug)]
struct Tuning {
    ran: bool,
    /// The geometric mean of the ratios, or why there is none.
    ratio: Result<f64, String>,
    /// The sum of the times, or why there is none.
    time: Result<f64, String>,
}

impl Results {
    /// A number of the whole result.
    ///
    /// # Errors
    /// Why there is none, as a sentence.
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

/// Reads the files of the table.
///
/// # Errors
/// They are not there or not of that form; as a sentence.
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

/// Adds what the files say to what the other checks found; those come first.
pub(crate) fn verdict(
    results: &Result<Results, String>,
    before: ValidationResult,
) -> ValidationResult {
    let failed = |detail: String| ValidationResult::Failed { detail };
    match (before, results) {
        (before @ ValidationResult::Failed { .. }, _) => before,
        (_, Err(reason)) => failed(format!("the result could not be read: {reason}")),
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

/// The file itself, or all raw files of a folder.
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
         Corporation (spec.org); its fair-use rule says what must be printed with its metrics"
            .to_owned(),
    );
    read
}

/// What one tuning comes to; the numbers of its benchmarks are added to `metrics`.
fn spec_tuning(results: &[SpecResult], tune: &str, metrics: &mut Vec<MetricValue>) -> Tuning {
    let chosen: Vec<&SpecRun> =
        results.iter().flat_map(|r| r.selected(tune).into_values()).collect();
    for run in &chosen {
        let value = |what: &str, value, unit: &str, better| {
            let name = format!("{}.{tune}.{what}", run.benchmark);
            MetricValue::new(name, value, unit, better, Kind::Measured)
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

/// The value of every benchmark.
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

/// Takes over the overall metrics, what the tools object to, and what kind of result it is.
fn spec_verdict(result: &SpecResult, read: &mut Results) {
    for (name, mean) in &result.overall {
        let (better, kind) = (Better::Higher, Kind::Quoted);
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
            "the run is not a reportable one: SPEC calls its numbers estimates, and wants that stated \
             next to each of them (SPEC CPU, run and reporting rules)"
                .to_owned(),
        );
        read.notes.extend(result.errors.iter().map(|e| format!("SPEC's tools report: {e}")));
    } else if result.invalid || !result.errors.is_empty() {
        read.wrong.push("SPEC's tools call it an invalid run".to_owned());
        read.wrong.extend(result.errors.iter().cloned());
    }
}
