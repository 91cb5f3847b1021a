//! Result types of check functions, and helpers that build findings.

use assay_model::{FiredCheck, Severities};

use crate::TreatmentEvidence;
use crate::rows::I;

/// Limits `found` to these treatments of `all`. A finding about all treatments stays unlimited, and
/// so does one that includes a treatment without a run id.
pub(crate) fn about(
    mut found: FiredCheck,
    treatments: &[&TreatmentEvidence],
    all: &[TreatmentEvidence],
) -> FiredCheck {
    if treatments.len() < all.len() {
        let ids: Option<Vec<u32>> = treatments.iter().map(|a| a.id).collect();
        found.treatments = ids.unwrap_or_default();
    }
    found
}

/// Creates a finding with the check's own severity.
pub(crate) fn plain(message: impl Into<String>) -> FiredCheck {
    FiredCheck::new(message)
}

/// Creates an escalated finding: invalid in every profile.
pub(crate) fn grave(message: impl Into<String>) -> FiredCheck {
    at(I, message)
}

/// Creates a finding with a severity that overrides the check's own.
pub(crate) fn at(severity: Severities, message: impl Into<String>) -> FiredCheck {
    FiredCheck::new(message).at(severity)
}

/// Reason why an evaluation ended early.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stop {
    /// The object of the check is known to be absent.
    NotApplicable(String),
    /// Evidence that the check needs is not recorded.
    Missing(String),
}

/// Findings of a check, or the reason why it could not run.
pub(crate) type Evaluation = Result<Vec<FiredCheck>, Stop>;

/// Ends the check because `what` is not recorded.
pub(crate) fn missing<T>(what: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Missing(what.into()))
}

/// Ends the check because its object is known to be absent.
pub(crate) fn not_applicable<T>(why: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::NotApplicable(why.into()))
}

/// Returns the value of an option, or [`Stop::Missing`] if it is `None`.
pub(crate) fn need<T>(value: Option<T>, what: impl Into<String>) -> Result<T, Stop> {
    value.ok_or_else(|| Stop::Missing(what.into()))
}

/// Returns the value if it is recorded and finite, else [`Stop::Missing`].
pub(crate) fn number(value: Option<f64>, what: impl Into<String>) -> Result<f64, Stop> {
    value.filter(|v| v.is_finite()).ok_or_else(|| Stop::Missing(what.into()))
}

/// Returns the findings. With no findings and something in `lacking`, returns [`Stop::Missing`].
pub(crate) fn found_or_missing(found: Vec<FiredCheck>, lacking: &[String]) -> Evaluation {
    match (found.is_empty(), lacking.is_empty()) {
        (true, false) => missing(lacking.join(", ")),
        _ => Ok(found),
    }
}
