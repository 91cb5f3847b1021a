//! Exports hyperfine's JSON, so that its plotting scripts and other readers work on assay's runs.
//! Times are in seconds, memory in bytes. `assay_workloads::readers` reads the format.

use std::collections::BTreeMap;

use assay_model::{Exit, TrialRecord};
use serde::Serialize;

use crate::gate::Gate;
use crate::view::RunView;

/// The exported file: `{"results": [...]}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Export {
    /// One entry per command.
    results: Vec<CommandResult>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct CommandResult {
    /// The command, or the treatment's label.
    command: String,
    /// Arithmetic mean of the times.
    mean: f64,
    /// Sample standard deviation; `null` with a single run.
    stddev: Option<f64>,
    /// Median of the times.
    median: f64,
    /// Mean CPU time in user mode.
    user: Option<f64>,
    /// Mean CPU time in the kernel.
    system: Option<f64>,
    min: f64,
    max: f64,
    /// Time of each trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<Vec<f64>>,
    /// Peak memory of each trial; absent if that of any trial is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_usage_byte: Option<Vec<u64>>,
    /// Exit code of each trial; `null` if a signal ended it.
    exit_codes: Vec<Option<i32>>,
    /// Factor levels of the treatment.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<String, String>,
}

/// Reason why an export could not be written.
#[derive(Debug, thiserror::Error)]
pub enum HyperfineError {
    #[error("the export cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    #[error(
        "no treatment of the run has a completed trial with a time; there is nothing to export"
    )]
    NoTimes,
}

/// Writes the counted trials of a run: the metric `elapsed` if the workload reports it in seconds,
/// else the wall time of the trial's process. Withheld treatments are left out.
///
/// # Errors
/// [`HyperfineError::NoTimes`] when no treatment has a time.
pub fn write(view: &RunView) -> Result<String, HyperfineError> {
    let gate = Gate::from_view(view);
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
    fn the_export_has_hyperfines_fields() {
        let view = fixtures::commands();
        let export: serde_json::Value = serde_json::from_str(&write(&view).unwrap()).unwrap();
        let results = export["results"].as_array().unwrap();
        assert_eq!(results.len(), 2);
        let first = &results[0];
        assert_eq!(first["command"], "zstd -3 -kf corpus");
        assert_eq!(first["times"].as_array().unwrap().len(), 10);
        assert_eq!(first["exit_codes"], serde_json::json!([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
        let of = |name: &str| first[name].as_f64().unwrap();
        let mean = view.analysis.summaries[0].summary.mean.unwrap();
        assert!((of("mean") - mean).abs() < 1e-12);
        assert!(of("min") <= of("median") && of("median") <= of("max"));
    }

    #[test]
    fn withheld_results_are_not_exported() {
        assert!(matches!(write(&fixtures::withheld()), Err(HyperfineError::NoTimes)));
    }
}
