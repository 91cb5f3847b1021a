//! A/A comparisons: differences between identical treatments on one machine.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RunId, Scalar, Setting};

/// Result of an A/A run, which compares a treatment with itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelfComparison {
    /// Version of this format.
    pub schema_version: u32,
    /// Id of the run.
    pub run: RunId,
    /// End of the run: ISO 8601, UTC.
    pub at: String,
    /// Description of the machine: host, processor, CPUs and kernel.
    pub machine: String,
    /// Name of the workload.
    pub workload: String,
    /// Parameters of the workload.
    pub params: BTreeMap<String, Scalar>,
    /// Controls that were set.
    pub controls: Vec<Setting>,
    /// Name of the metric that was compared.
    pub metric: String,
    /// Number of comparisons of identical treatments.
    pub comparisons: u32,
    /// Number of blocks of each comparison.
    pub blocks_each: u32,
    /// A/A floor: the 95th percentile of the ratios (larger / smaller), minus 1.
    pub floor: f64,
}

/// Newest A/A run of a workload on the machine of a run, as known when the run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KnownFloor {
    /// Result of the A/A run.
    pub found: SelfComparison,
    /// Age of the A/A run, seconds.
    pub age_s: f64,
    /// Differences from the run that quotes it; empty for the same work in the same schedule.
    pub differs: Vec<String>,
}
