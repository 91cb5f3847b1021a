//! What is submitted: an experiment with what is changed in it, and when.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// What is submitted.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Submission {
    /// The experiment's name in the list of experiments; empty with `workload`.
    #[serde(default)]
    pub experiment: String,
    /// Start from this workload instead of an experiment.
    #[serde(default)]
    pub workload: Option<String>,
    /// The text of the experiment. Without `--allow-any` it differs from the one that is named in its name,
    /// title, description, tags, design, comparison, and in parameters that are no texts alone.
    #[serde(default)]
    pub toml: Option<String>,
    /// Parameters to change: one value fixes a parameter, several with commas make it a factor.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// How many blocks; each holds one trial of every treatment.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100_000))]
    pub blocks: Option<u32>,
    /// Measure this revision (a commit, a tag, a branch) as a point of the experiment's history.
    #[serde(default)]
    pub rev: Option<String>,
    /// The revision that it is measured beside; absent: the one of the history, else the one that the file names.
    #[serde(default)]
    pub reference: Option<String>,
    /// Words to find the run by.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub tags: Vec<String>,
    /// Do not start before this time: ISO 8601, `2026-11-21T23:00:00Z`.
    #[serde(default)]
    #[schemars(extend("format" = "date-time"))]
    pub not_before: Option<String>,
    /// Before all others that wait.
    #[serde(default)]
    pub first: bool,
    /// A word about who submits it.
    #[serde(default)]
    pub by: String,
}
