//! F56: a rank states its population and its date.

use crate::prelude::*;

pub const WORDING_EXACT: CheckRow = CheckRow {
    id: "F56",
    name: "wording-exact",
    section: CheckSection::Claims,
    severity: INVALID,
    escalation: "",
    needs: "the population and the date of a rank",
    fires: "a rank is stated without its population or without its date",
    why: "a rank holds until the next result is published",
    remedy: "state among which results, and as of which date",
    source: "SPEC fair use 2023; SPEC OSG",
    evidence: "ranks of a post",
};

pub const CHECK: Check =
    Check::new(&WORDING_EXACT, evaluate).always_checked("the words of the claim are the evidence");

fn evaluate(e: &Evidence) -> Evaluation {
    let claim = e.claim.need("the claim")?;
    if claim.text.trim().is_empty() {
        return missing("the text of the claim");
    }
    if claim.verb != Some(Verb::Best) {
        return not_applicable("the claim states no rank");
    }
    let lacking: Vec<&str> =
        [("among which", claim.population.as_ref()), ("as of when", claim.as_of.as_ref())]
            .into_iter()
            .filter_map(|(what, text)| text.is_none_or(|s| s.trim().is_empty()).then_some(what))
            .collect();
    if lacking.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![finding(format!("`{}`: the best {}?", claim.text, lacking.join(", ")))])
}
