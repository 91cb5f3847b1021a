//! Claims of a text that were recomputed: the check that reports each result, and its severity.

use assay_model::CheckRow;

use crate::check::{Evaluation, INVALID, NOTE, WARNING, finding_at, not_applicable};
use crate::rows;

/// A claim from another author's text, recomputed.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedClaim {
    /// Position and words of the claim (`line 3: "5% better"`).
    pub words: String,
    pub result: RecomputedClaim,
    /// Reason for the result, one sentence.
    pub reason: String,
}

/// Result of recomputing a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecomputedClaim {
    /// The printed value is confirmed.
    Holds,
    /// The difference is below one unit of the last printed digit.
    OffByRounding,
    /// Every reading of the claim gives another value.
    Differs,
    /// One reading gives the printed value and another does not.
    Ambiguous,
    /// The inputs of the claim are missing.
    NoInputs,
}

/// Returns the finding of a check about an audited claim.
pub(crate) fn evaluate(of: &CheckRow, claim: &AuditedClaim) -> Evaluation {
    let no_data = claim.result == RecomputedClaim::NoInputs;
    let own = if no_data { &rows::ABSOLUTES_SHOWN } else { &rows::RECOMPUTES };
    if own.id != of.id {
        return not_applicable("the claim is not of its kind");
    }
    let (severity, remedy) = match claim.result {
        RecomputedClaim::Holds => return Ok(Vec::new()),
        RecomputedClaim::Differs => (INVALID, "Correct the claim or the number it rests on."),
        RecomputedClaim::Ambiguous => {
            (WARNING, "Say which reading is meant, and show both values.")
        }
        RecomputedClaim::OffByRounding => (NOTE, "Compute from the unrounded values."),
        RecomputedClaim::NoInputs => (WARNING, "Print the values that it compares."),
    };
    Ok(vec![finding_at(severity, format!("{}: {}", claim.words, claim.reason)).remedy(remedy)])
}
