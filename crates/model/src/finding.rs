//! Findings of the checks for completeness and validity, and the rows of the catalogue, without
//! which no check can make one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Severity of a finding, ordered from mild to severe.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Information that does not affect the number.
    Note,
    /// A problem that is published next to the number.
    Warning,
    /// A problem because of which the number or claim must not be published.
    Invalid,
}

crate::names! {
    /// Returns the severity as a word.
    pub Severity::name: Note = "note", Warning = "warning", Invalid = "invalid"
}

/// Strictness of the checks, by the purpose of the numbers. A profile may raise a severity, never
/// lower one below `Lab`'s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// Experiments for one's own use: a check that cannot be made is a note.
    Lab,
    /// Numbers for publication: a check that cannot be made is a finding at the check's severity.
    Publish,
}

crate::names! {
    pub Profile::name: Lab = "lab", Publish = "publish"
}

/// Severity in each profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Severities {
    pub lab: Severity,
    /// Severity in the profile `publish`; at least that of `lab`.
    pub publish: Severity,
}

impl Severities {
    /// Uses the same severity in both profiles.
    pub const fn both(severity: Severity) -> Self {
        Severities { lab: severity, publish: severity }
    }
}

/// The part of the catalogue that a check belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckSection {
    /// F01 to F15: is like compared with like?
    Environment,
    /// F16 to F27: workload and measurement.
    Workload,
    /// F28 to F45: design and statistics.
    Statistics,
    /// F46 to F60: claims and publication.
    Claims,
    /// N1 to N4: several machines as one, and virtual machines.
    Nodes,
}

crate::names! {
    /// Returns the section's heading.
    pub CheckSection::title: Environment = "Environment: is like compared with like?",
        Workload = "Workload and measurement", Statistics = "Design and statistics",
        Claims = "Claims and publication", Nodes = "Several machines as one, and virtual ones"
}

/// A row of the catalogue of checks: the description of one check, as data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRow {
    /// Id of the check (`F11`).
    pub id: &'static str,
    /// Short name of the check (`quiet-host`).
    pub name: &'static str,
    pub section: CheckSection,
    /// Default severity of the check.
    pub severity: Severities,
    /// Conditions under which the severity differs from `severity`; empty if it never does.
    pub escalation: &'static str,
    /// Data that the check examines.
    pub needs: &'static str,
    /// Source of that data: who records or states it.
    pub evidence: &'static str,
    /// Condition under which the check fires.
    pub fires: &'static str,
    /// Reason why a finding matters.
    pub why: &'static str,
    /// Remedy for a finding.
    pub remedy: &'static str,
    /// Publication or standard that the rule comes from.
    pub source: &'static str,
}

/// Result of a check that fired, before [`CheckRow::finding`] adds the texts of its row.
#[derive(Debug, Clone, PartialEq)]
pub struct FiredCheck {
    /// Severity; `None` for the row's own.
    pub severity: Option<Severities>,
    /// Problem with its figures, as a sentence without a full stop.
    pub message: String,
    /// Remedy in this case; `None` for the row's own, empty for no remedy.
    pub remedy: Option<String>,
    /// Affected treatments, by id in the run's plan; empty for all.
    pub treatments: Vec<u32>,
}

impl FiredCheck {
    /// Creates a result with the row's own severity and remedy.
    pub fn new(message: impl Into<String>) -> Self {
        FiredCheck { severity: None, message: message.into(), remedy: None, treatments: Vec::new() }
    }

    /// Replaces the row's severity.
    #[must_use]
    pub fn at(mut self, severity: Severities) -> Self {
        self.severity = Some(severity);
        self
    }

    /// Replaces the row's severity by the same one for all profiles.
    #[must_use]
    pub fn always(self, severity: Severity) -> Self {
        self.at(Severities::both(severity))
    }

    /// Replaces the row's remedy.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl CheckRow {
    /// Builds a finding from a result and the texts of this row.
    pub fn finding(&self, found: FiredCheck) -> Finding {
        let severity = found.severity.unwrap_or(self.severity);
        Finding {
            id: self.id.to_owned(),
            name: self.name.to_owned(),
            severity: severity.lab,
            published: (severity.publish > severity.lab).then_some(severity.publish),
            message: found.message,
            remedy: found.remedy.unwrap_or_else(|| self.remedy.to_owned()),
            treatments: found.treatments,
        }
    }
}

/// A check without a finding that did not pass, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckNote {
    /// Id of the check (`F22`).
    pub id: String,
    /// Short name of the check.
    pub name: String,
    /// Data that is not recorded, or the reason why the check does not apply.
    pub why: String,
}

/// Results of the checks of the catalogue without a finding.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Checks {
    /// Profile of the checks (`lab`, `publish`); empty if none was made.
    pub profile: String,
    /// Ids of the checks that passed.
    pub passed: Vec<String>,
    /// Checks that do not apply, because there are no data to examine.
    pub not_applicable: Vec<CheckNote>,
    /// Checks that could not be made, with the missing data.
    pub cannot_check: Vec<CheckNote>,
}

/// Finding of a check: which check, its severity, the affected treatments and the remedy. Only a
/// [`CheckRow`] of the catalogue, or [`Finding::of_rule`] for a rule of a pack, can make one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Id of the check (`F11`).
    pub id: String,
    /// Short name of the check (`quiet-host`).
    pub name: String,
    /// Severity in the profile `lab`.
    pub severity: Severity,
    /// Severity in the profile `publish`, where it is higher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Severity>,
    /// Problem with the figures of the evidence, in one sentence.
    pub message: String,
    /// Remedy; empty if nothing can be done.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
    /// Affected treatments of the run, by id; empty for all that were examined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub treatments: Vec<u32>,
}

impl Finding {
    /// Builds the finding for a violated rule of a rule pack: a pack is a catalogue of its own, in
    /// a file.
    pub fn of_rule(
        rule: String,
        pack: String,
        severity: Severity,
        message: String,
        remedy: String,
    ) -> Self {
        Finding {
            id: rule,
            name: pack,
            severity,
            published: None,
            message,
            remedy,
            treatments: Vec::new(),
        }
    }

    /// Sets `severity` to the one that holds in `profile`.
    #[must_use]
    pub fn in_profile(mut self, profile: Profile) -> Self {
        if let (Profile::Publish, Some(worse)) = (profile, self.published.take()) {
            self.severity = worse;
        }
        self
    }

    #[must_use]
    pub fn worded(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }
}
