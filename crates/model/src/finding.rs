//! Findings: what a check of completeness or validity found, and the row of the catalogue that alone can make one.

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

impl Severity {
    /// Returns the severity as a word.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Invalid => "invalid",
        }
    }
}

/// What the numbers are for. A profile may raise a severity, never lower one below `Lab`'s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// Work at the bench: what cannot be checked is a note.
    Lab,
    /// A number that others will read: what cannot be checked is a finding at the check's severity.
    Publish,
}

impl Profile {
    /// The profile's word.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Lab => "lab",
            Profile::Publish => "publish",
        }
    }
}

/// A severity per profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Severities {
    /// At the bench.
    pub lab: Severity,
    /// When published; at least that of the bench.
    pub publish: Severity,
}

impl Severities {
    /// The same in both.
    pub const fn both(severity: Severity) -> Self {
        Severities { lab: severity, publish: severity }
    }

    /// The severity in a profile.
    pub fn of(self, profile: Profile) -> Severity {
        match profile {
            Profile::Lab => self.lab,
            Profile::Publish => self.publish,
        }
    }
}

/// The part of the catalogue that a check belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Is like compared with like? F01 to F15.
    Environment,
    /// Workload and measurement. F16 to F27.
    Workload,
    /// Design and statistics. F28 to F45.
    Statistics,
    /// Claims and publication. F46 to F60.
    Claims,
    /// Several machines as one, and virtual ones. N1 to N4.
    Nodes,
}

impl Section {
    /// The section's heading.
    pub fn title(self) -> &'static str {
        match self {
            Section::Environment => "Environment: is like compared with like?",
            Section::Workload => "Workload and measurement",
            Section::Statistics => "Design and statistics",
            Section::Claims => "Claims and publication",
            Section::Nodes => "Several machines as one, and virtual ones",
        }
    }
}

/// A row of the catalogue of checks: what a check is, as data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its id (`F11`).
    pub id: &'static str,
    /// Its short name (`quiet-host`).
    pub name: &'static str,
    /// Where it belongs.
    pub section: Section,
    /// Its own severity.
    pub severity: Severities,
    /// When it is worse (or milder) than its own severity; empty if never.
    pub escalation: &'static str,
    /// What it looks at.
    pub needs: &'static str,
    /// Where that comes from: who records or states it.
    pub evidence: &'static str,
    /// When it fires.
    pub fires: &'static str,
    /// Why that matters.
    pub why: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
    /// Where the rule comes from.
    pub source: &'static str,
}

/// One thing that a check found, before it stands in the words of its row.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// How bad it is; `None`: the row's own severity.
    pub severity: Option<Severities>,
    /// What was found, with the figures, as a sentence without a full stop.
    pub message: String,
    /// What to do about it in this case; `None`: the row's own remedy; empty: nothing.
    pub remedy: Option<String>,
    /// The treatments that it is about, by id in the run's plan; empty: all.
    pub treatments: Vec<u32>,
}

impl Found {
    /// At the row's own severity, with its own remedy.
    pub fn new(message: impl Into<String>) -> Self {
        Found { severity: None, message: message.into(), remedy: None, treatments: Vec::new() }
    }

    /// At a severity of its own.
    #[must_use]
    pub fn at(mut self, severity: Severities) -> Self {
        self.severity = Some(severity);
        self
    }

    /// At this severity in every profile.
    #[must_use]
    pub fn always(self, severity: Severity) -> Self {
        self.at(Severities::both(severity))
    }

    /// With a remedy of its own.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl Row {
    /// Something found, in the words of the row.
    pub fn finding(&self, found: Found) -> Finding {
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
/// Made by a [`Row`] of the catalogue, or by [`Finding::of_rule`] for a rule of a pack; nothing else can.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Finding {
    /// The check's id (`F11`).
    pub id: String,
    /// The check's short name (`quiet-host`).
    pub name: String,
    /// How bad it is at the bench.
    pub severity: Severity,
    /// How bad it is in what is published, where that is worse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Severity>,
    /// One sentence: what was found, with the evidence's figures in it.
    pub message: String,
    /// What to do about it; empty if there is nothing to do.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
    /// The treatments of the run that it is about, by id; empty: all of what was looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub treatments: Vec<u32>,
}

impl Finding {
    /// A rule of a rule pack that is not kept: a pack is a catalogue of its own, in a file.
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

    /// In the words of a profile: `severity` is that of the profile.
    #[must_use]
    pub fn in_profile(mut self, profile: Profile) -> Self {
        if let (Profile::Publish, Some(worse)) = (profile, self.published.take()) {
            self.severity = worse;
        }
        self
    }

    /// The same, with other words.
    #[must_use]
    pub fn worded(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// The same, about these treatments alone.
    #[must_use]
    pub fn about(mut self, treatments: Vec<u32>) -> Self {
        self.treatments = treatments;
        self
    }
}
