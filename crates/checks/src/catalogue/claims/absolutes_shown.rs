//! F54: absolute values are printed next to a ratio.

use crate::prelude::*;

pub const ABSOLUTES_SHOWN: CheckRow = CheckRow {
    id: "F54",
    name: "absolutes-shown",
    section: CheckSection::Claims,
    severity: INVALID,
    escalation: "",
    needs: "the claim, and what is printed with it",
    fires: "a ratio or percentage stands alone, or a speed-up without its base case",
    why: "twice as fast as something slow is slow",
    remedy: "show both values with their units; for a speed-up state of what",
    source: "Heiser F4; Hoefler and Belli rule 1",
    evidence: "claims that `assay audit` cannot recompute",
};

pub const CHECK: Check = Check::new(&ABSOLUTES_SHOWN, evaluate)
    .always_checked("a ratio whose inputs are not there is what it finds");

fn evaluate(e: &Evidence) -> Evaluation {
    let claim = e.claim.need("the claim")?;
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    match claim.absolutes_shown {
        Some(false) => found.push(finding("the ratio stands alone: show both values")),
        Some(true) => {}
        None => lacking.push("whether both values stand beside the ratio".to_owned()),
    }
    match claim.is_speedup {
        Some(true) if claim.speedup_base.as_ref().is_none_or(|b| b.trim().is_empty()) => {
            found.push(finding("a speed-up relative to what? Its base case is not stated"));
        }
        Some(_) => {}
        None => lacking.push("whether the ratio is a speed-up".to_owned()),
    }
    found_or_missing(found, &lacking)
}
