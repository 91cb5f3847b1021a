//! Comparison of several runs: the same treatments across runs, and the facts in which the systems
//! differed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Better, Comparison, Finding, KnownFloor, Percentile, RunId, Summary};

/// One treatment that occurs in several runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcrossRow {
    /// The treatment's label in the first run that has it.
    pub label: String,
    /// The treatment's levels in full; treatments of different runs are matched by this key.
    #[serde(default)]
    pub key: String,
    /// The treatment's summary in each run; `null` for a run without this treatment.
    pub summaries: Vec<Option<Summary>>,
    /// For a metric that is a percentile: the percentile of the merged histograms of the
    /// treatment's trials in each run; empty for other metrics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<Option<Percentile>>,
    /// Comparison of each later run with the first; `null` for the first, and where either run
    /// lacks the treatment.
    pub comparisons: Vec<Option<Comparison>>,
    /// Reasons why the value is doubtful, for each run; an empty list where nothing was observed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Vec<String>>,
}

/// A fact of the system that differed between two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Path of the fact, such as `kernel.release`.
    pub path: String,
    /// Value in the first run.
    pub a: String,
    /// Value in the other run.
    pub b: String,
    /// Id of the other run.
    pub run: RunId,
    /// Effect on the comparison: `hard` explains results, `unknown` could not be read on one side,
    /// `soft` may explain a result, `factor` is intended, `entailed` follows from a factor.
    pub class: String,
    /// Reason for this class.
    #[serde(default)]
    pub reason: String,
    /// Reason that a person gave for accepting the difference, if anyone did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
}

/// Several runs, compared by treatment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Across {
    /// The runs that are compared; the first is the baseline.
    pub runs: Vec<RunId>,
    /// Name of the metric.
    pub metric: String,
    /// Unit of the metric.
    pub unit: String,
    /// Direction in which the metric improves.
    pub better: Better,
    /// Name of the comparison for readers: `kernel.release`, or `system against system`; empty when
    /// no factor was declared.
    #[serde(default)]
    pub compared: String,
    /// Kind of virtual machine that each run's numbers come from, in the order of `runs`; empty if
    /// no run used virtual machines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guests: Vec<Option<crate::Guest>>,
    /// A/A floor that was known when each run began, in the order of `runs`; `null` if none was
    /// known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub floors: Vec<Option<KnownFloor>>,
    /// The treatments, one row each.
    pub rows: Vec<AcrossRow>,
    /// Differences between the first run and any other, most serious first.
    pub differences: Vec<Difference>,
    /// Findings of the checks.
    pub findings: Vec<Finding>,
}
