//! F54 and F56: absolute values next to ratios, and the wording of ranks.

use crate::check::{Evaluation, found_or_missing, not_applicable, plain};
use crate::{Evidence, Verb};

pub(crate) fn absolutes(e: &Evidence) -> Evaluation {
    let claim = e.claim.need("the claim")?;
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    match claim.absolutes_shown {
        Some(false) => found.push(plain("the ratio stands alone: show both values")),
        Some(true) => {}
        None => lacking.push("whether both values stand beside the ratio".to_owned()),
    }
    match claim.is_speedup {
        Some(true) if claim.speedup_base.as_ref().is_none_or(|b| b.trim().is_empty()) => {
            found.push(plain("a speed-up relative to what? Its base case is not stated"));
        }
        Some(_) => {}
        None => lacking.push("whether the ratio is a speed-up".to_owned()),
    }
    found_or_missing(found, &lacking)
}

pub(crate) fn wording(e: &Evidence) -> Evaluation {
    let claim = e.claim.need("the claim")?;
    if claim.text.trim().is_empty() {
        return crate::check::missing("the text of the claim");
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
    Ok(vec![plain(format!("`{}`: the best {}?", claim.text, lacking.join(", ")))])
}
