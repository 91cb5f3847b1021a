//! Runs side by side: the same treatments across runs, and what else differed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Better, Comparison, Finding, KnownFloor, Percentile, RunId, Summary};

/// One treatment that several runs have, side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcrossRow {
    /// The treatment's label in the first run that has it.
    pub label: String,
    /// Its levels in full, by which the runs' treatments are matched.
    #[serde(default)]
    pub key: String,
    /// Its summary in each run; `null` where a run lacks it.
    pub summaries: Vec<Option<Summary>>,
    /// Where the metric is a percentile: that of the merged histograms of the treatment's trials in each
    /// run; empty for other metrics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<Option<Percentile>>,
    /// Each later run against the first; `null` for the first, and where one lacks it.
    pub comparisons: Vec<Option<Comparison>>,
    /// What makes the value doubtful in each run; empty lists where nothing was seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Vec<String>>,
}

/// A fact of the system that was not the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The fact's path.
    pub path: String,
    /// In the first run.
    pub a: String,
    /// In the other.
    pub b: String,
    /// The other run.
    pub run: RunId,
    /// What it does to the comparison: `hard` explains results, `unknown` was not readable somewhere,
    /// `soft` might explain one, `factor` is meant, `entailed` follows from a factor.
    pub class: String,
    /// Why it has its class.
    #[serde(default)]
    pub reason: String,
    /// Why a person accepted it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
}

/// Runs side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Across {
    /// The runs, the first is the baseline.
    pub runs: Vec<RunId>,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// What is compared, in words: `kernel.release`, or `system against system`; empty when no factor
    /// was declared.
    #[serde(default)]
    pub compared: String,
    /// The virtual machines that each run's numbers come from, in the order of `runs`; empty: there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guests: Vec<Option<crate::Guest>>,
    /// The A/A floor that each run knew when it began, in the order of `runs`; `null`: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub floors: Vec<Option<KnownFloor>>,
    /// The treatments.
    pub rows: Vec<AcrossRow>,
    /// What differed between the first run and any other, most serious first.
    pub differences: Vec<Difference>,
    /// What the checks found.
    pub findings: Vec<Finding>,
}
