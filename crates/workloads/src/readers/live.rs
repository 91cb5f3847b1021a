//! Turns the output of a suite that ran in a trial into the trial's metrics: one for each figure of
//! each benchmark.

use std::collections::BTreeMap;
use std::path::Path;

use assay_model::{Better, MetricKind, MetricValue, Observation, TrialOutcome};
use assay_stats::means::geometric;

use crate::readers::FORMATS;
use crate::readers::file::error::ForeignError;
use crate::readers::file::format::{ForeignFormat, FormatReader};
use crate::readers::file::{format_of, malformed};
use crate::readers::result::{ForeignResult, mean};

/// Metric of a suite: the geometric mean of its benchmarks.
pub const BENCHMARKS: &str = "benchmarks";
/// Name of the reader that recognizes the output.
pub const AUTO: &str = "auto";
/// Start of the note on a trial whose output was recognized; the format's name follows.
pub const READ_AS: &str = "the output was read as ";

/// Metrics of a trial that a reader found in the output of its program.
#[derive(Debug)]
pub struct ReadOutput {
    /// The format as which the output was read.
    pub format: &'static ForeignFormat,
    /// Values of the benchmarks: their deciding figures under the benchmark's name, the others as
    /// `benchmark: figure`.
    pub metrics: Vec<MetricValue>,
    pub notes: Vec<String>,
    pub evidence: Vec<Observation>,
    /// Benchmarks that failed, with the reason.
    pub failed: Vec<String>,
}

/// Returns the only reader that recognizes the output of a command.
pub fn recognized(bytes: &[u8]) -> Option<&'static ForeignFormat> {
    let mut known = FORMATS.iter().filter(|f| f.live && (f.detect)(bytes));
    known.next().filter(|_| known.next().is_none())
}

/// Returns the stream with the results of a tool: standard error if only that has them, as with
/// perf stat, stress-ng and cargo-criterion.
pub(crate) fn stream<'a>(
    stdout: &'a [u8],
    stderr: &'a [u8],
    format: Option<&ForeignFormat>,
) -> &'a [u8] {
    let known = |bytes: &[u8]| match format {
        Some(format) => (format.detect)(bytes),
        None => FORMATS.iter().any(|f| f.live && (f.detect)(bytes)),
    };
    if !known(stdout) && known(stderr) { stderr } else { stdout }
}

/// Returns the geometric mean of the benchmarks. It is missing if they have different units or
/// directions, or if one of them has no positive value. A time of 0 has no place in such a mean: it
/// is left out, with a note.
pub(crate) fn geometric_mean(metrics: &[MetricValue], notes: &mut Vec<String>) -> MetricValue {
    let zero = |m: &&MetricValue| m.value == Some(0.0) && m.better == Better::Lower;
    let (zero, all): (Vec<_>, Vec<_>) = metrics.iter().filter(|m| m.benchmark).partition(zero);
    let note = |m: &&MetricValue| format!("{}: 0 {}, not in the geometric mean", m.name, m.unit);
    notes.extend(zero.iter().map(note));
    let first = all.first().map(|m| (m.unit.clone(), m.better));
    let alike =
        all.iter().all(|m| first.as_ref().is_some_and(|f| f.0 == m.unit && f.1 == m.better));
    let values: Option<Vec<f64>> = all.iter().map(|m| m.value.filter(|v| *v > 0.0)).collect();
    let mean = values.filter(|_| alike).and_then(|v| geometric(&v));
    let (unit, better) = first.filter(|_| alike).unwrap_or(("1".into(), Better::Neither));
    MetricValue::new(BENCHMARKS, mean, unit, better, MetricKind::Derived)
}

/// Reads the output of a trial. `format` is the reader; `None` recognizes the output. `from` names
/// the output in errors: `standard output` or a file.
///
/// # Errors
/// If the output has no known format, or several; if it is malformed or has no benchmark.
pub fn read_output(
    from: &Path,
    bytes: &[u8],
    format: Option<&'static ForeignFormat>,
) -> Result<ReadOutput, ForeignError> {
    if bytes.trim_ascii().is_empty() {
        return Err(ForeignError::Empty(from.to_owned()));
    }
    let format = match format {
        Some(format) => format,
        None => format_of(from, bytes, FORMATS.iter().filter(|f| f.live)).map_err(|e| match e {
            ForeignError::Unknown(from, _) => ForeignError::Unrecognized(from),
            other => other,
        })?,
    };
    let FormatReader::Run(read) = format.reader else {
        return Err(ForeignError::Series(from.to_owned(), format.name));
    };
    let results = read(bytes).and_then(|found| format.confirm(bytes, found));
    let results = results.map_err(|flaw| malformed(from, format, flaw))?;
    let mut out = ReadOutput {
        format,
        metrics: Vec::new(),
        notes: Vec::new(),
        evidence: Vec::new(),
        failed: Vec::new(),
    };
    let several = results.len() > 1;
    for result in results {
        let prefix = if several { format!("{}: ", result.part) } else { String::new() };
        add(&mut out, &result, &prefix);
    }
    Ok(out)
}

/// Adds the benchmarks of a result. The value of a benchmark that was repeated in the process is
/// the mean of its repetitions.
fn add(out: &mut ReadOutput, result: &ForeignResult, prefix: &str) {
    out.notes.extend(result.notes.iter().cloned());
    let single = result.treatments.len() == 1 && result.treatments[0].levels.is_empty();
    for (i, treatment) in result.treatments.iter().enumerate() {
        let others =
            treatment.levels.iter().filter(|(factor, _)| *factor != super::result::BENCHMARK);
        let others: Vec<String> = others.map(|(k, v)| format!("{k}={}", v.to_text())).collect();
        let name = treatment.levels.get(super::result::BENCHMARK).map(assay_model::Scalar::to_text);
        let name = name.into_iter().chain(others).collect::<Vec<_>>().join(", ");
        let name = format!("{prefix}{name}");
        let mut figures: BTreeMap<usize, (MetricValue, Vec<Option<f64>>)> = BTreeMap::new();
        let mut repetitions = 0;
        for trial in result.trials.iter().filter(|t| t.treatment == i) {
            if trial.outcome != TrialOutcome::Completed {
                let failed = format!("{name}: {}", trial.error);
                out.failed.push(failed.trim_start_matches(": ").to_owned());
                continue;
            }
            repetitions += 1;
            let notes = trial.notes.iter().map(|note| format!("{name}: {note}"));
            out.notes.extend(notes.map(|note| note.trim_start_matches(": ").to_owned()));
            for (at, metric) in trial.metrics.iter().enumerate() {
                // The position keeps the deciding figure first.
                let values = figures.entry(at).or_insert_with(|| (metric.clone(), Vec::new()));
                values.1.push(metric.value);
            }
            let of_output =
                trial.evidence.iter().filter(|o| !matches!(o, Observation::Repetition { .. }));
            out.evidence.extend(of_output.cloned());
        }
        for (at, (metric, values)) in figures {
            let known: Option<Vec<f64>> = values.into_iter().collect();
            let shown = match (at, single) {
                (_, true) => metric.name.clone(),
                (0, false) => name.clone(),
                (_, false) => format!("{name}: {}", metric.name),
            };
            out.metrics.push(MetricValue {
                name: shown,
                value: known.as_deref().and_then(mean),
                benchmark: at == 0,
                ..metric
            });
        }
        if repetitions > 1 {
            out.notes.push(format!("{name}: the mean of {repetitions} repetitions in one process"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_zero_is_left_out_of_the_mean_and_named() {
        let of = |values: &[f64], better| {
            let metrics: Vec<MetricValue> = values
                .iter()
                .enumerate()
                .map(|(i, v)| MetricValue {
                    benchmark: true,
                    ..MetricValue::new(format!("b{i}"), Some(*v), "s", better, MetricKind::Measured)
                })
                .collect();
            let mut notes = Vec::new();
            let mean = geometric_mean(&metrics, &mut notes).value;
            (mean.map(|v| (v * 1e6).round() / 1e6), notes)
        };
        for zeros in 0..5 {
            for at in 0..=2 {
                let mut values = vec![2.0, 8.0];
                values.splice(at..at, vec![0.0; zeros]);
                let (mean, notes) = of(&values, Better::Lower);
                assert_eq!((mean, notes.len()), (Some(4.0), zeros), "{values:?}");
                assert!(zeros == 0 || notes[0].starts_with(&format!("b{at}: 0 s")), "{notes:?}");
            }
        }
        assert_eq!(of(&[0.0, 0.0], Better::Lower).0, None);
        assert_eq!(of(&[-1.0, 2.0], Better::Lower), (None, vec![]));
        // A rate of 0 is a benchmark that did nothing.
        assert_eq!(of(&[0.0, 2.0], Better::Higher), (None, vec![]));
    }
}
