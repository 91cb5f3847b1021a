//! Audited claims of a text: the check that reports each result, and its severity.

use assay_model::CheckRow;

use crate::check::{Evaluation, I, N, W, at, not_applicable};
use crate::rows;
use crate::{AuditedClaim, RecomputedClaim};

/// Returns the finding of a check about an audited claim.
pub(crate) fn evaluate(of: &CheckRow, claim: &AuditedClaim) -> Evaluation {
    let no_data = claim.result == RecomputedClaim::NoInputs;
    let own = if no_data { &rows::ABSOLUTES_SHOWN } else { &rows::RECOMPUTES };
    if own.id != of.id {
        return not_applicable("the claim is not of its kind");
    }
    let (severity, remedy) = match claim.result {
        RecomputedClaim::Holds => return Ok(Vec::new()),
        RecomputedClaim::Differs => (I, "Correct the claim or the number it rests on."),
        RecomputedClaim::Ambiguous => (W, "Say which reading is meant, and show both values."),
        RecomputedClaim::OffByRounding => (N, "Compute from the unrounded values."),
        RecomputedClaim::NoInputs => (W, "Print the values that it compares."),
    };
    Ok(vec![at(severity, format!("{}: {}", claim.words, claim.reason)).remedy(remedy)])
}
