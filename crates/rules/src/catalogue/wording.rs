//! F54 to F56: absolute values, a fair baseline, exact words.

use super::check::{Check, Evaluation, I, Section, W, found_or_missing, grave, plain};
use super::{ClaimEvidence, Evidence, Verb};

/// A rival's version may be this old before it counts as outdated, days.
const RIVAL_DAYS: f64 = 365.0;
/// Effort on one side may be this many times that on the other.
const EFFORT: f64 = 1.5;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "F54",
        name: "absolutes-shown",
        section: Section::Claims,
        severity: I,
        escalation: "",
        needs: "the claim, and what stands beside it",
        fires: "a ratio or percentage stands alone, or a speed-up without its base case",
        why: "twice as fast as something slow is slow",
        remedy: "show both values with their units; for a speed-up say of what",
        source: "Heiser F4; Hoefler and Belli rule 1",
        evaluate: absolutes,
    },
    Check {
        id: "F55",
        name: "fair-baseline",
        section: Section::Claims,
        severity: W,
        escalation: "",
        needs: "the rival's version and release date, knobs and hours of tuning on both sides",
        fires: "the only baseline is an older version of the same thing, the rival is outdated, or effort unequal",
        why: "it is easy to beat what nobody would run",
        remedy: "compare with the current version of what a reader would use, tuned alike",
        source: "Heiser D1 to D3",
        evaluate: baseline,
    },
    Check {
        id: "F56",
        name: "wording-exact",
        section: Section::Claims,
        severity: W,
        escalation: "invalid for best or record without population and date",
        needs: "the claim's text and what its ratio is of",
        fires: "faster without time or throughput, or up to without the distribution",
        why: "50 % faster is 2/3 or half of the time, as the reader likes",
        remedy: "say which ratio, of what, on which workload, as of which date",
        source: "SPEC fair use 2023; SPEC OSG",
        evaluate: wording,
    },
];

fn absolutes(e: &Evidence) -> Evaluation {
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

fn baseline(e: &Evidence) -> Evaluation {
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

fn wording(e: &Evidence) -> Evaluation {
    let claim = e.claim.need("the claim")?;
    if claim.text.trim().is_empty() {
        return super::check::missing("the text of the claim");
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

fn ranking(claim: &ClaimEvidence, found: &mut Vec<super::check::Found>) {
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
