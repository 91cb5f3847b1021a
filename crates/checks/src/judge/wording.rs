//! F54 and F56: absolute values, exact words.

use crate::check::{Evaluation, found_or_missing, grave, plain};
use crate::{ClaimEvidence, Evidence, Verb};

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

/// Whether the text has the phrase between characters that are not letters.
fn says(text: &str, phrase: &str) -> bool {
    let lower = text.to_lowercase();
    let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    lower.match_indices(phrase).any(|(i, m)| {
        let (before, after) = (lower[..i].chars().next_back(), lower[i + m.len()..].chars().next());
        !letter(before) && !letter(after)
    })
}

/// Whether the sentence itself tells time from throughput.
fn tells_which(text: &str) -> bool {
    let words = [
        "throughput",
        "time",
        "seconds",
        "latency",
        "response time",
        "ops/s",
        "operations per second",
        "transactions per second",
        "requests per second",
        "ms",
        "bandwidth",
    ];
    words.iter().any(|w| says(text, w)) || text.contains("/s")
}

pub(crate) fn wording(e: &Evidence) -> Evaluation {
    let claim = e.claim.need("the claim")?;
    if claim.text.trim().is_empty() {
        return crate::check::missing("the text of the claim");
    }
    let mut found = Vec::new();
    let text = &claim.text;
    let speed =
        ["faster", "slower", "quicker", "speedup", "speed-up"].iter().any(|w| says(text, w));
    if speed && claim.ratio_kind.is_none() && !tells_which(text) {
        found.push(plain(format!("`{text}`: faster in time or in throughput?")));
    }
    if says(text, "up to") && claim.distribution_shown != Some(true) {
        found.push(plain(format!("`{text}`: up to, without the distribution")));
    }
    ranking(claim, &mut found);
    Ok(found)
}

fn ranking(claim: &ClaimEvidence, found: &mut Vec<assay_model::Found>) {
    let words = ["best", "record", "world record", "fastest", "number one", "#1", "unmatched"];
    let ranks = claim.verb == Some(Verb::Best) || words.iter().any(|w| says(&claim.text, w));
    if !ranks {
        return;
    }
    let lacking: Vec<&str> =
        [("among which", claim.population.as_ref()), ("as of when", claim.as_of.as_ref())]
            .into_iter()
            .filter_map(|(what, text)| text.is_none_or(|s| s.trim().is_empty()).then_some(what))
            .collect();
    if !lacking.is_empty() {
        found.push(grave(format!("`{}`: the best {}?", claim.text, lacking.join(", "))));
    }
}

#[cfg(test)]
mod tests {
    use super::{says, tells_which};

    #[test]
    fn phrases_are_whole_words() {
        assert!(says("Up to 30% better", "up to"));
        assert!(!says("cup token", "up to"));
        assert!(says("the fastest system", "fastest"));
        assert!(!says("recorded", "record"));
        assert!(tells_which("takes 1.05 times the time of B"));
        assert!(!tells_which("B is 5% faster"));
    }
}
