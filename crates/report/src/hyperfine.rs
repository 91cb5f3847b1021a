//! hyperfine's JSON export: written, so that its plotting scripts and other readers work on assay's
//! runs, and read, so that its results can be laid beside ours. Times are seconds, memory is bytes.

use std::collections::BTreeMap;

use assay_model::{Exit, TrialRecord};
use serde::{Deserialize, Serialize};

use crate::gate::Gate;
use crate::view::RunView;

/// The file: `{"results": [...]}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Export {
    /// One entry a command.
    pub results: Vec<CommandResult>,
}

/// One command's result. Fields that older versions of hyperfine do not write are optional.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommandResult {
    /// The command, or its name.
    pub command: String,
    /// Arithmetic mean of the times.
    pub mean: f64,
    /// Sample standard deviation; `null` with a single run.
    pub stddev: Option<f64>,
    /// Median of the times.
    pub median: f64,
    /// Mean CPU time in user mode.
    pub user: Option<f64>,
    /// Mean CPU time in the kernel.
    pub system: Option<f64>,
    /// Least time.
    pub min: f64,
    /// Greatest time.
    pub max: f64,
    /// Every time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Vec<f64>>,
    /// The peak memory of every run; absent when a run's is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_usage_byte: Option<Vec<u64>>,
    /// The exit code of every run; `null` when a signal ended it.
    #[serde(default)]
    pub exit_codes: Vec<Option<i32>>,
    /// The parameters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
}

/// Why an export could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum HyperfineError {
    /// The text is not hyperfine's JSON.
    #[error("not a hyperfine export: {0}; `hyperfine --export-json FILE` writes one")]
    Malformed(#[from] serde_json::Error),
    /// A result holds a number that no run can have.
    #[error("the result of `{command}` has the {field} {value}, which no run can have")]
    Impossible {
        /// Whose result.
        command: String,
        /// Which field.
        field: &'static str,
        /// What it holds.
        value: f64,
    },
    /// There is nothing to export.
    #[error(
        "no treatment of the run has a completed trial with a time; there is nothing to export"
    )]
    NoTimes,
}

/// Reads an export.
///
/// # Errors
/// [`HyperfineError::Malformed`], [`HyperfineError::Impossible`] for negative or infinite times.
pub fn read(text: &str) -> Result<Export, HyperfineError> {
    let export: Export = serde_json::from_str(text)?;
    for r in &export.results {
        let fields = [("mean", r.mean), ("median", r.median), ("min", r.min), ("max", r.max)];
        let times = r.times.iter().flatten().map(|t| ("time", *t));
        if let Some((field, value)) =
            fields.into_iter().chain(times).find(|(_, v)| !v.is_finite() || *v < 0.0)
        {
            return Err(HyperfineError::Impossible { command: r.command.clone(), field, value });
        }
    }
    Ok(export)
}

/// Writes the counted trials of a run: the metric `elapsed` in seconds where the workload reports it,
/// else the wall time of the trial's process. Treatments that are withheld are left out.
///
/// # Errors
/// [`HyperfineError::NoTimes`] when no treatment has a time.
pub fn write(view: &RunView) -> Result<String, HyperfineError> {
    let gate = Gate::of(view);
    let results: Vec<CommandResult> = view
        .treatments()
        .into_iter()
        .filter(|t| gate.treatment(*t).is_none())
        .filter_map(|t| result(view, t))
        .collect();
    if results.is_empty() {
        return Err(HyperfineError::NoTimes);
    }
    Ok(serde_json::to_string_pretty(&Export { results })?)
}

fn result(view: &RunView, treatment: u32) -> Option<CommandResult> {
    let timed: Vec<(f64, &TrialRecord)> =
        view.counted(treatment).into_iter().filter_map(|r| Some((time(r)?, r))).collect();
    if timed.is_empty() {
        return None;
    }
    let times: Vec<f64> = timed.iter().map(|(t, _)| *t).collect();
    let n = times.len() as f64;
    let mean = times.iter().sum::<f64>() / n;
    let stddev = (times.len() > 1)
        .then(|| (times.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt());
    let mut sorted = times.clone();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let median = if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    };
    let cpu = |of: fn(&assay_model::ResourceUse) -> f64| {
        let all: Option<Vec<f64>> =
            timed.iter().map(|(_, r)| r.resources.as_ref().map(of)).collect();
        all.map(|v| v.iter().sum::<f64>() / n)
    };
    let planned = view.plan.treatment(treatment);
    let command = planned
        .and_then(|t| t.params.get("command"))
        .map_or_else(|| view.label(treatment), ToString::to_string);
    Some(CommandResult {
        command,
        mean,
        stddev,
        median,
        user: cpu(|r| r.user_s),
        system: cpu(|r| r.system_s),
        min: sorted[0],
        max: sorted[sorted.len() - 1],
        times: Some(times),
        memory_usage_byte: timed
            .iter()
            .map(|(_, r)| r.resources.as_ref().and_then(|u| u.peak_memory_bytes))
            .collect(),
        exit_codes: timed
            .iter()
            .map(|(_, r)| match r.exit {
                Some(Exit::Code(c)) => Some(c),
                Some(Exit::Signal(_)) | None => None,
            })
            .collect(),
        parameters: planned
            .map(|t| t.levels.iter().map(|(k, v)| (k.clone(), v.to_string())).collect())
            .unwrap_or_default(),
    })
}

fn time(record: &TrialRecord) -> Option<f64> {
    let elapsed = record.metrics.iter().find(|m| m.name == "elapsed" && m.unit == "s");
    match elapsed {
        Some(m) => m.value.filter(|v| v.is_finite()),
        None => record.resources.as_ref().map(|r| r.wall_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn what_is_written_is_read_again() {
        let view = fixtures::commands();
        let export = read(&write(&view).unwrap()).unwrap();
        assert_eq!(export.results.len(), 2);
        let first = &export.results[0];
        assert_eq!(first.command, "zstd -3 -kf corpus");
        assert_eq!(first.times.as_ref().unwrap().len(), 10);
        assert_eq!(first.exit_codes, vec![Some(0); 10]);
        let mean = view.analysis.summaries[0].summary.mean.unwrap();
        assert!((first.mean - mean).abs() < 1e-12);
        assert!(first.min <= first.median && first.median <= first.max);
    }

    /// An export as hyperfine 1.15 writes it: no memory, an unknown field, a run ended by a signal.
    #[test]
    fn reads_an_export_of_an_older_version() {
        let text = r#"{"results":[{"command":"sleep 0.1","mean":0.1012,"stddev":0.0003,
            "median":0.1011,"user":0.0005,"system":0.0009,"min":0.1008,"max":0.1019,
            "times":[0.1008,0.1011,0.1019],"exit_codes":[0,0,null],"extra":1}]}"#;
        let export = read(text).unwrap();
        assert_eq!(export.results[0].exit_codes, [Some(0), Some(0), None]);
        assert_eq!(export.results[0].memory_usage_byte, None);
    }

    #[test]
    fn refuses_what_no_run_can_have() {
        assert!(matches!(read("[]"), Err(HyperfineError::Malformed(_))));
        let text = r#"{"results":[{"command":"x","mean":-1.0,"stddev":null,"median":1.0,
            "user":null,"system":null,"min":1.0,"max":1.0}]}"#;
        assert!(matches!(read(text), Err(HyperfineError::Impossible { field: "mean", .. })));
    }

    #[test]
    fn withheld_results_are_not_exported() {
        assert!(matches!(write(&fixtures::withheld()), Err(HyperfineError::NoTimes)));
    }
}
