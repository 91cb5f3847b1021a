//! Submission: an experiment with changes and a start time.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// Submission of an experiment to the queue.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Submission {
    /// Name of the experiment in the list of experiments; empty with `workload`.
    pub experiment: String,
    /// Workload to start from instead of an experiment.
    pub workload: Option<String>,
    /// Text of the experiment. Without `--allow-any` it may differ from the named experiment only
    /// in its name, title, description, tags, design and comparison, and in parameters that are not
    /// texts.
    pub toml: Option<String>,
    /// Parameters to change: one value fixes a parameter, several with commas make it a factor.
    pub set: BTreeMap<String, String>,
    /// Number of blocks; each contains one trial of every treatment.
    #[schemars(range(min = 1, max = 100_000))]
    pub blocks: Option<u32>,
    /// Revision (a commit, a tag or a branch) to measure as a point of the experiment's history.
    pub rev: Option<String>,
    /// Reference revision for `rev`. Default: the one of the history, else the one that the
    /// experiment's file names.
    pub reference: Option<String>,
    /// Tags to find the run by.
    #[schemars(length(max = 50))]
    pub tags: Vec<String>,
    /// Time before which the job does not start: ISO 8601, `2026-11-21T23:00:00Z`.
    #[schemars(extend("format" = "date-time"))]
    pub not_before: Option<String>,
    /// True to run the job before all others that wait.
    pub first: bool,
    /// Name of the submitter.
    pub by: String,
}
