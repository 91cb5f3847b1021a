//! A run: one execution of an experiment, with an id.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A run's id: `YYYYMMDD-hhmmss-xxxx`, UTC and four hexadecimal digits of chance. It is a folder's
/// name, so nothing else is accepted.
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
    /// The id as text.
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

/// Where a run is in its life. Apart from its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// Its process is alive, or was at its last sign of life.
    Started,
    /// It came to its planned end.
    Completed,
    /// It ended early by its own rules: too many failures, or a cap.
    Failed,
    /// A person or a signal ended it, or its process is gone; it can be resumed.
    Interrupted,
}

impl RunState {
    /// The state's name as written.
    pub fn name(self) -> &'static str {
        match self {
            RunState::Started => "started",
            RunState::Completed => "completed",
            RunState::Failed => "failed",
            RunState::Interrupted => "interrupted",
        }
    }
}

/// One line about a run: what `archive list` shows and the index keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunSummary {
    /// The run.
    pub id: RunId,
    /// The experiment's name.
    pub experiment: String,
    /// The workload's name.
    pub workload: String,
    /// The tags that its experiment declares.
    pub tags: Vec<String>,
    /// Tags that were added to it later; absent when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added_tags: Vec<String>,
    /// What somebody wrote about it later; absent when nobody did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The host.
    pub host: String,
    /// When it started: ISO 8601, UTC.
    pub started_at: String,
    /// Where it is in its life.
    pub state: RunState,
    /// How many treatments it has.
    pub treatments: u32,
    /// How many trials completed (warm-ups too).
    pub completed: u32,
    /// How many trials failed, timed out, were invalid or interrupted.
    pub failed: u32,
    /// How many trials the plan has.
    pub planned: u32,
    /// The metric that decides.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The geometric mean of the baseline's trials; `null` when there is none, and for a percentile, which
    /// is read from the histograms of all trials together.
    pub value: Option<f64>,
}

/// A run that was deleted and can be restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deleted {
    /// The run.
    pub run: RunId,
    /// Its experiment's name; empty when the run cannot be read.
    pub experiment: String,
    /// When it was deleted: ISO 8601, UTC.
    pub deleted_at: String,
    /// Until when it can be restored: ISO 8601, UTC.
    pub until: String,
}

impl RunSummary {
    /// Its tags: those of the experiment and those that were added later.
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
