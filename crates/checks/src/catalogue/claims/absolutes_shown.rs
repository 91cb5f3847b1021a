//! F54: absolute values are printed next to a ratio.

use crate::prelude::*;
use crate::{AuditedClaim, RecomputedClaim};

pub const ABSOLUTES_SHOWN: CheckRow = CheckRow {
    id: "F54",
    name: "absolutes-shown",
    section: CheckSection::Claims,
    severity: INVALID,
    escalation: "",
    needs: "the claim, and the values printed with it",
    fires: "a ratio or percentage is shown without its values, or a speed-up without its base case",
    why: "twice as fast as something slow is slow",
    remedy: "show both values with their units, and the base case of a speed-up",
    source: "Heiser F4; Hoefler and Belli rule 1",
    evidence: "claims that `assay audit` cannot recompute",
};

pub const CHECK: Check = Check::new(&ABSOLUTES_SHOWN, evaluate)
    .on_audited_claims(evaluate_claim)
    .always_checked("a ratio without inputs is a finding");

/// Reports an audited claim whose inputs are missing.
fn evaluate_claim(claim: &AuditedClaim) -> Evaluation {
    match claim.result {
        RecomputedClaim::NoInputs => Ok(vec![
            finding_at(WARNING, claim.message()).remedy("Print the values that it compares."),
        ]),
        _ => not_applicable("the claim is not of its kind"),
    }
}

fn evaluate(e: &Evidence) -> Evaluation {
    let claim = e.claim.need("the claim")?;
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    match claim.absolutes_shown {
        Some(false) => found.push(finding("the ratio is shown without its values")),
        Some(true) => {}
        None => lacking.push("the display of both values with the ratio".to_owned()),
    }
    match claim.is_speedup {
        Some(true) if claim.speedup_base.as_ref().is_none_or(|b| b.trim().is_empty()) => {
            found.push(finding("the base case of the speed-up is not stated"));
        }
        Some(_) => {}
        None => lacking.push("the kind of the ratio (speed-up or not)".to_owned()),
    }
    found_or_missing(found, &lacking)
}
