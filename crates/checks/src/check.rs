//! What a check is: a row of the catalogue with a function of evidence.

use assay_model::{Finding, Found, Row, Severities};

use crate::rows::{I, N};
use crate::{Arm, Evidence};

/// About these arms of `all` alone. It stays about all where all are meant, and where one of them is no
/// treatment of a run.
pub(crate) fn about(mut found: Found, arms: &[&Arm], all: &[Arm]) -> Found {
    if arms.len() < all.len() {
        let ids: Option<Vec<u32>> = arms.iter().map(|a| a.treatment).collect();
        found.treatments = ids.unwrap_or_default();
    }
    found
}

/// At the check's own severity.
pub(crate) fn plain(message: impl Into<String>) -> Found {
    Found::new(message)
}

/// Escalated: invalid in every profile.
pub(crate) fn grave(message: impl Into<String>) -> Found {
    at(I, message)
}

/// At a severity of its own.
pub(crate) fn at(severity: Severities, message: impl Into<String>) -> Found {
    Found::new(message).at(severity)
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
pub(crate) fn need<T>(value: Option<T>, what: impl Into<String>) -> Result<T, Stop> {
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
    /// What it is.
    pub row: &'static Row,
    pub(crate) evaluate: fn(&Evidence) -> Evaluation,
}

impl Check {
    /// What it found in `evidence`; empty when it passes, does not apply or cannot be made.
    pub fn findings(&self, evidence: &Evidence) -> Vec<Finding> {
        match self.evaluate(evidence) {
            Outcome::Found(found) => found.into_iter().map(|f| self.row.finding(f)).collect(),
            _ => Vec::new(),
        }
    }

    /// What it found in `evidence`; what it cannot check is a note.
    pub fn judged(&self, evidence: &Evidence) -> Vec<Finding> {
        let Outcome::CannotCheck(what) = self.evaluate(evidence) else {
            return self.findings(evidence);
        };
        let found = at(N, format!("cannot check: {what} is not recorded"));
        vec![self.row.finding(found.remedy("record it, or claim nothing that needs it"))]
    }

    /// What it says about `evidence`.
    pub fn evaluate(&self, evidence: &Evidence) -> Outcome {
        let evaluation = match &evidence.audited {
            Some(claim) => crate::judge::audit::claim(self.row, claim),
            None => (self.evaluate)(evidence),
        };
        match evaluation {
            Ok(found) if found.is_empty() => Outcome::Passes,
            Ok(found) => Outcome::Found(found),
            Err(Stop::NotApplicable(why)) => Outcome::DoesNotApply(why),
            Err(Stop::Missing(what)) => Outcome::CannotCheck(what),
        }
    }
}
