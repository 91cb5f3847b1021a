//! F54 to F56: absolute values, a fair baseline, exact words.

use crate::check::{Evaluation, found_or_missing, grave, plain};
use crate::{ClaimEvidence, Evidence, Verb};

/// A rival's version may be this old before it counts as outdated, days.
const RIVAL_DAYS: f64 = 365.0;
/// Effort on one side may be this many times that on the other.
const EFFORT: f64 = 1.5;

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
            found.push(plain("a speed-up relative to what? Its base case is not said"));
        }
        Some(_) => {}
        None => lacking.push("whether the ratio is a speed-up".to_owned()),
    }
    found_or_missing(found, &lacking)
}

pub(crate) fn baseline(e: &Evidence) -> Evaluation {
    let b = e.baseline.need("what the result is compared with")?;
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    match b.own_older_version_only {
        Some(true) => {
            found.push(plain("the only baseline is an older version of the same thing"));
        }
        Some(false) => {
            let rival = b.rival.as_deref().unwrap_or("the rival");
            match (b.newer_rival_out, b.rival_age_days) {
                (Some(true), age) => {
                    let old = age.map_or(String::new(), |d| format!(" and {d:.0} days old"));
                    found.push(plain(format!("{rival} is not its newest version{old}")));
                }
                (_, Some(days)) if days > RIVAL_DAYS => {
                    found.push(plain(format!("{rival} is {days:.0} days old")));
                }
                (Some(false), Some(_)) => {}
                _ => lacking.push(format!("the age of {rival}")),
            }
        }
        None => lacking.push("whether there is a rival".to_owned()),
    }
    let unequal = |a: f64, b: f64| a.max(b) > EFFORT * a.min(b);
    match b.knobs {
        Some([ours, theirs]) if unequal(f64::from(ours), f64::from(theirs)) => {
            let text = format!("{theirs} knobs were tuned on the rival's side, {ours} on ours");
            found.push(plain(text));
        }
        Some(_) => {}
        None => lacking.push("how many knobs were tuned on either side".to_owned()),
    }
    if let Some([ours, theirs]) = b.hours.filter(|[a, b]| unequal(*a, *b)) {
        let text = format!("{theirs} hours went into tuning the rival's side, {ours} into ours");
        found.push(plain(text));
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
            .filter_map(|(what, said)| said.is_none_or(|s| s.trim().is_empty()).then_some(what))
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
