//! Findings: what a check of honesty or validity found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How bad a finding is. The order is from mild to severe.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Published with the message beside the number.
    Warning,
    /// The number or claim must not be published.
    Invalid,
}

/// A check that found nothing, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckNote {
    /// The check's id (`F22`).
    pub id: String,
    /// Its short name.
    pub name: String,
    /// What is not recorded, or why the check does not apply.
    pub why: String,
}

/// What became of the checks of the catalogue that found nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Checks {
    /// The profile in which they were made (`lab`, `publish`); empty: none was made.
    pub profile: String,
    /// The ids of those that passed.
    pub passed: Vec<String>,
    /// Those that have nothing to look at.
    pub not_applicable: Vec<CheckNote>,
    /// Those that could not be made, with what is not recorded.
    pub cannot_check: Vec<CheckNote>,
}

/// What a check found: which check, how bad, about what, and what to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The check's id (`F11`).
    pub id: String,
    /// The check's short name (`quiet-host`).
    pub name: String,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence: what was found, with the evidence's figures in it.
    pub message: String,
    /// What to do about it; empty if there is nothing to do.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
    /// The treatments of the run that it is about, by id; empty: all of what was looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub treatments: Vec<u32>,
}
