//! Tests of other programs' results, from fixtures in their format (with invented numbers) and from
//! the programs themselves if they are installed.

mod bad;
mod formats;
mod numbers;
mod real;
mod series;
mod suites;

use std::path::{Path, PathBuf};

use assay_workloads::readers::{
    ForeignError, ForeignFormat, ForeignResult, ForeignSet, FormatReader, format, read_foreign,
};

/// Returns the path of a fixture.
fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/workloads/readers/data").join(name)
}

/// Reads a fixture as text, so that a test can change it.
fn text(name: &str) -> String {
    std::fs::read_to_string(data(name)).unwrap()
}

fn read(name: &str) -> ForeignSet {
    read_foreign(&[data(name)], None).unwrap()
}

/// Reads a text as a file of the format; `None` detects the format.
fn read_text(text: &[u8], name: Option<&str>) -> Result<ForeignSet, ForeignError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, text).unwrap();
    read_foreign(&[path], name.map(|n| format(n).unwrap()))
}

/// Runs the reader of a format.
fn parse(format: &ForeignFormat, bytes: &[u8]) {
    match format.reader {
        FormatReader::Run(read) => drop(read(bytes)),
        FormatReader::Series(read) => drop(read(bytes)),
    }
}

/// Returns the error message without the file's folder.
fn error(text: &[u8], name: Option<&str>) -> String {
    let message = read_text(text, name).unwrap_err().to_string();
    let at = message.find("/file").map_or(0, |i| i + 1);
    message[at..].to_owned()
}

/// Returns the values of a metric in the trials of a treatment.
fn values(result: &ForeignResult, treatment: usize, metric: &str) -> Vec<Option<f64>> {
    let of = result.trials.iter().filter(|t| t.treatment == treatment);
    of.map(|t| t.metrics.iter().find(|m| m.name == metric).and_then(|m| m.value)).collect()
}

/// Returns one value of a metric with its unit.
fn one(result: &ForeignResult, trial: usize, metric: &str) -> (f64, String) {
    let metrics = &result.trials[trial].metrics;
    let m = metrics
        .iter()
        .find(|m| m.name == metric)
        .unwrap_or_else(|| panic!("{metric}: {metrics:#?}"));
    (m.value.unwrap(), m.unit.clone())
}

fn level(result: &ForeignResult, treatment: usize, factor: &str) -> String {
    result.treatments[treatment].levels[factor].to_text()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs()
}
