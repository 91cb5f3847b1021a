//! A run: one execution of an experiment, with an id.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Id of a run: `YYYYMMDD-hhmmss-xxxx`, in UTC with four random hexadecimal digits. It is the name
/// of a folder, so no other format is accepted.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

/// A text that is not a run id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a run id; one looks like 20261121-093000-1a2b")]
pub struct RunIdError(String);

impl RunId {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = RunIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let ok = text.len() == 20
            && text.bytes().enumerate().all(|(i, b)| match i {
                8 | 15 => b == b'-',
                16..=19 => b.is_ascii_digit() || (b'a'..=b'f').contains(&b),
                _ => b.is_ascii_digit(),
            });
        if ok { Ok(RunId(text.to_owned())) } else { Err(RunIdError(text.to_owned())) }
    }
}

impl TryFrom<String> for RunId {
    type Error = RunIdError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Execution state of a run, independent of its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// The process of the run is alive, or was when last checked.
    Started,
    /// The run ended as planned.
    Completed,
    /// The run ended early by its own rules: too many failures, or a limit.
    Failed,
    /// A person or a signal ended the run, or its process has disappeared; the run can be resumed.
    Interrupted,
}

crate::names! {
    pub RunState::name, ALL: Started = "started", Completed = "completed", Failed = "failed",
        Interrupted = "interrupted"
}

/// Summary of a run in one line, as listed by `archive list` and stored in the index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunSummary {
    /// Id of the run.
    pub id: RunId,
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the workload.
    pub workload: String,
    /// Tags that the experiment declares.
    pub tags: Vec<String>,
    /// Tags that were added later; absent if nobody added any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added_tags: Vec<String>,
    /// Note that somebody wrote about the run later; absent if nobody did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Name of the host.
    pub host: String,
    /// Start time: ISO 8601, UTC.
    pub started_at: String,
    /// Execution state of the run.
    pub state: RunState,
    /// Number of treatments of the run.
    pub treatments: u32,
    /// Number of completed trials, including warm-ups.
    pub completed: u32,
    /// Number of trials that failed, timed out, were invalid or interrupted.
    pub failed: u32,
    /// Number of trials in the plan.
    pub planned: u32,
    /// Name of the deciding metric.
    pub metric: String,
    /// Unit of the deciding metric.
    pub unit: String,
    /// Geometric mean of the baseline's trials; `null` when no such trial completed, and for a
    /// percentile, which is read from the merged histograms of all trials.
    pub value: Option<f64>,
}

/// A deleted run that can be restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deleted {
    /// Id of the run.
    pub run: RunId,
    /// Name of the experiment; empty when the run cannot be read.
    pub experiment: String,
    /// Time of the deletion: ISO 8601, UTC.
    pub deleted_at: String,
    /// Time until which the run can be restored: ISO 8601, UTC.
    pub until: String,
}

impl RunSummary {
    /// Returns the experiment's tags followed by those added later.
    pub fn all_tags(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().chain(&self.added_tags).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_never_a_path() {
        assert!("20261121-093000-1a2b".parse::<RunId>().is_ok());
        for bad in
            ["", "..", "20261121-093000-1A2B", "20261121-093000-../b", "20261121-093000-1a2bc"]
        {
            assert!(bad.parse::<RunId>().is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<RunId>("\"../../etc\"").is_err());
    }
}
