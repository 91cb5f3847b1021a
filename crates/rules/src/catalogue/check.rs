//! What a check is: a row of data with a function of evidence.

use assay_model::{Finding, Severity};

use super::{Arm, Evidence};

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

/// A note in both profiles.
pub(crate) const N: Severities = Severities::both(Severity::Note);
/// A warning in both profiles.
pub(crate) const W: Severities = Severities::both(Severity::Warning);
/// Invalid in both profiles.
pub(crate) const I: Severities = Severities::both(Severity::Invalid);
/// A note at the bench, a warning when published.
pub(crate) const NW: Severities = Severities { lab: Severity::Note, publish: Severity::Warning };
/// A note at the bench, invalid when published.
pub(crate) const NI: Severities = Severities { lab: Severity::Note, publish: Severity::Invalid };
/// A warning at the bench, invalid when published.
pub(crate) const WI: Severities = Severities { lab: Severity::Warning, publish: Severity::Invalid };

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
}

impl Section {
    /// The section's heading.
    pub fn title(self) -> &'static str {
        match self {
            Section::Environment => "Environment: is like compared with like?",
            Section::Workload => "Workload and measurement",
            Section::Statistics => "Design and statistics",
            Section::Claims => "Claims and publication",
        }
    }
}

/// One thing that a check found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// How bad it is; `None`: the check's own severity.
    pub severity: Option<Severities>,
    /// What was found, with the figures, as a sentence without a full stop.
    pub message: String,
    /// What to do about it in this case; empty: the check's own remedy.
    pub remedy: String,
    /// The treatments that it is about, by id in the run's plan; empty: all arms.
    pub treatments: Vec<u32>,
}

impl Found {
    /// About these arms of `all` alone. It stays about all where all are meant, and where one of them
    /// is no treatment of a run.
    pub(crate) fn of(mut self, arms: &[&Arm], all: &[Arm]) -> Self {
        if arms.len() < all.len() {
            let ids: Option<Vec<u32>> = arms.iter().map(|a| a.treatment).collect();
            self.treatments = ids.unwrap_or_default();
        }
        self
    }
}

/// At the check's own severity.
pub(crate) fn plain(message: impl Into<String>) -> Found {
    Found { severity: None, message: message.into(), remedy: String::new(), treatments: Vec::new() }
}

/// Escalated: invalid in every profile.
pub(crate) fn grave(message: impl Into<String>) -> Found {
    at(I, message)
}

/// At a severity of its own.
pub(crate) fn at(severity: Severities, message: impl Into<String>) -> Found {
    Found { severity: Some(severity), ..plain(message) }
}

/// What a check says about evidence.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It was checked and nothing was found.
    Passes,
    /// What it looks at is known not to be there (no price is quoted, one arm only).
    DoesNotApply(String),
    /// It found this; never empty.
    Found(Vec<Found>),
    /// The evidence does not hold what it needs: what is missing.
    CannotCheck(String),
}

/// Why an evaluation ended early.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stop {
    /// What it looks at is known not to be there.
    NotApplicable(String),
    /// Something is not recorded.
    Missing(String),
}

/// What was found, or why nothing could be.
pub(crate) type Evaluation = Result<Vec<Found>, Stop>;

/// Something is not recorded.
pub(crate) fn missing<T>(what: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Missing(what.into()))
}

/// What the check looks at is known not to be there.
pub(crate) fn not_applicable<T>(why: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::NotApplicable(why.into()))
}

/// What an option holds, or that it is not recorded.
pub(crate) fn need<T>(value: Option<&T>, what: impl Into<String>) -> Result<&T, Stop> {
    value.ok_or_else(|| Stop::Missing(what.into()))
}

/// A number that is recorded and finite.
pub(crate) fn number(value: Option<f64>, what: impl Into<String>) -> Result<f64, Stop> {
    value.filter(|v| v.is_finite()).ok_or_else(|| Stop::Missing(what.into()))
}

/// What was found; where nothing was but something is missing, that it could not be checked.
pub(crate) fn found_or_missing(found: Vec<Found>, lacking: &[String]) -> Evaluation {
    match (found.is_empty(), lacking.is_empty()) {
        (true, false) => missing(lacking.join(", ")),
        _ => Ok(found),
    }
}

/// One check of the catalogue.
#[derive(Debug)]
pub struct Check {
    /// `F01` to `F60`.
    pub id: &'static str,
    /// Its short name.
    pub name: &'static str,
    /// Where it belongs.
    pub section: Section,
    /// Its own severity.
    pub severity: Severities,
    /// When it is worse (or milder) than its own severity; empty if never.
    pub escalation: &'static str,
    /// What evidence it needs.
    pub needs: &'static str,
    /// When it fires.
    pub fires: &'static str,
    /// Why that matters.
    pub why: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
    /// Where the rule comes from.
    pub source: &'static str,
    pub(crate) evaluate: fn(&Evidence) -> Evaluation,
}

impl Check {
    /// What it found in `evidence`, in the words of a profile; empty when it passes, does not apply or
    /// cannot be made.
    pub fn findings(&self, evidence: &Evidence, profile: Profile) -> Vec<Finding> {
        match self.evaluate(evidence) {
            Outcome::Found(found) => found.into_iter().map(|f| self.finding(f, profile)).collect(),
            _ => Vec::new(),
        }
    }

    /// Something found, in the words of a profile.
    pub(crate) fn finding(&self, found: Found, profile: Profile) -> Finding {
        let remedy = if found.remedy.is_empty() { self.remedy.to_owned() } else { found.remedy };
        Finding {
            id: self.id.to_owned(),
            name: self.name.to_owned(),
            severity: found.severity.unwrap_or(self.severity).of(profile),
            message: found.message,
            remedy,
            treatments: found.treatments,
        }
    }

    /// What it says about `evidence`.
    pub fn evaluate(&self, evidence: &Evidence) -> Outcome {
        match (self.evaluate)(evidence) {
            Ok(found) if found.is_empty() => Outcome::Passes,
            Ok(found) => Outcome::Found(found),
            Err(Stop::NotApplicable(why)) => Outcome::DoesNotApply(why),
            Err(Stop::Missing(what)) => Outcome::CannotCheck(what),
        }
    }
}
