//! Claims of a text by others: which check a claim belongs to, and how bad what recomputing gave is.

use assay_model::Row;

use crate::check::{Evaluation, at, not_applicable};
use crate::rows::{self, I, N, W};
use crate::{AuditedClaim, ClaimAbout, Recomputed};

/// The check that a claim belongs to.
fn row(claim: &AuditedClaim) -> &'static Row {
    match (claim.about, claim.result) {
        (ClaimAbout::Order | ClaimAbout::Quality, _) => &rows::WORDING_EXACT,
        (ClaimAbout::Disclosure, _) => &rows::REQUIRED_DISCLOSURE,
        (ClaimAbout::Class, _) => &rows::SAME_METRIC,
        (ClaimAbout::PerDenominator, Recomputed::NoInputs) => &rows::POWER_MEASURED,
        (ClaimAbout::Printed, Recomputed::NoInputs) => &rows::ABSOLUTES_SHOWN,
        (ClaimAbout::Printed | ClaimAbout::PerDenominator, _) => &rows::RECOMPUTES,
    }
}

/// What a check says of a claim.
pub(crate) fn claim(of: &Row, claim: &AuditedClaim) -> Evaluation {
    if row(claim).id != of.id {
        return not_applicable("the claim is not of its kind");
    }
    let (severity, remedy) = match (claim.result, claim.about) {
        (Recomputed::Holds, _) => return Ok(Vec::new()),
        (Recomputed::Differs, _) => (I, "Correct the claim or the number it rests on."),
        (Recomputed::Ambiguous, _) => (W, "Say which reading is meant, and show both values."),
        (Recomputed::OffByRounding, _) => (N, "Compute from the unrounded values."),
        (Recomputed::NoInputs, ClaimAbout::Quality) => (N, "Show what it rests on."),
        (Recomputed::NoInputs, _) => (W, "Print the values that it compares."),
    };
    Ok(vec![at(severity, format!("{}: {}", claim.words, claim.reason)).remedy(remedy)])
}
