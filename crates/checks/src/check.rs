//! What the function of a check says: what it found, or why nothing could be.

use assay_model::{Found, Severities};

use crate::TreatmentEvidence;
use crate::rows::I;

/// About these treatments of `all` alone. It stays about all where all are meant, and where one of them is no
/// treatment of a run.
pub(crate) fn about(
    mut found: Found,
    treatments: &[&TreatmentEvidence],
    all: &[TreatmentEvidence],
) -> Found {
    if treatments.len() < all.len() {
        let ids: Option<Vec<u32>> = treatments.iter().map(|a| a.id).collect();
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
