//! Runs side by side: the same treatments across runs, and what else differed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Better, Comparison, Finding, RunId, Summary};

/// One treatment that several runs have, side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcrossRow {
    /// The treatment's label.
    pub label: String,
    /// Its summary in each run; `null` where a run lacks it.
    pub summaries: Vec<Option<Summary>>,
    /// Each later run against the first; `null` for the first, and where one lacks it.
    pub comparisons: Vec<Option<Comparison>>,
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
    /// How much it matters: `hard` may explain a result, `soft` might.
    pub class: String,
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
    /// The treatments.
    pub rows: Vec<AcrossRow>,
    /// What differed between the first run and any other, most serious first.
    pub differences: Vec<Difference>,
    /// What the checks found.
    pub findings: Vec<Finding>,
}
