//! Comparing a thing with itself (A/A): by how much identical treatments differ on a machine.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RunId, Scalar, Setting};

/// What a run that compared a thing with itself found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelfComparison {
    /// The version of this format.
    pub schema_version: u32,
    /// The run.
    pub run: RunId,
    /// When it ended: ISO 8601, UTC.
    pub at: String,
    /// The kind of machine: host, processor, CPUs and kernel in words.
    pub machine: String,
    /// The workload.
    pub workload: String,
    /// Its parameters.
    pub params: BTreeMap<String, Scalar>,
    /// The controls that were set.
    pub controls: Vec<Setting>,
    /// The metric that was compared.
    pub metric: String,
    /// How many comparisons of identical treatments were made.
    pub comparisons: u32,
    /// How many blocks each had.
    pub blocks_each: u32,
    /// The A/A floor: the 95th percentile of the ratios (the larger by the smaller), minus 1.
    pub floor: f64,
}

/// The newest A/A run of a workload on the machine of a run, as it was known when that began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KnownFloor {
    /// What it found.
    pub found: SelfComparison,
    /// How old it was, seconds.
    pub age_s: f64,
    /// What it differs in from the run that quotes it; empty: the same work in the same schedule.
    pub differs: Vec<String>,
}
