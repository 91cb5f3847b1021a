//! F34: the interval supports the direction of a claim.

use assay_model::Verdict;

use crate::prelude::*;

pub const DIRECTION_SUPPORTED: CheckRow = CheckRow {
    id: "F34",
    name: "direction-supported",
    section: CheckSection::Statistics,
    severity: WARNING,
    escalation: "",
    needs: "the interval of the ratio that a post prints",
    fires: "the interval includes 1, or the comparison is inconclusive",
    why: "the data do not establish the direction",
    remedy: "run more trials, or state that the direction is not established",
    source: "Kalibera and Jones 2020",
    evidence: "a post: the comparison that it prints",
};

pub const CHECK: Check = Check::new(&DIRECTION_SUPPORTED, evaluate)
    .always_checked("F32 finds a measured ratio without an interval");

fn evaluate(e: &Evidence) -> Evaluation {
    let claim = e.claim.need("the claim")?;
    if *need(claim.verb.as_ref(), "the statement of the claim")? != Verb::States {
        return not_applicable("the claim states no ratio");
    }
    let comparison = behind_the_claim(e)?;
    let Some(interval) = &comparison.interval else {
        return not_applicable("the ratio has no interval: quoted results print none");
    };
    let open = match comparison.verdict {
        Some(Verdict::Equivalent) => false,
        Some(Verdict::Inconclusive) => true,
        _ => interval.contains(1.0),
    };
    // Two methods that disagree allow what either of them does.
    let rank = comparison.sensitivity.as_ref().unwrap_or(interval);
    let (low, high) = (interval.low.min(rank.low), interval.high.max(rank.high));
    let why = if low <= 1.0 && high >= 1.0 { "" } else { " beyond the margin or among all" };
    let text = format!(
        "the data allow ratios from {low:.4} to {high:.4}: the direction is not established{why}"
    );
    Ok(open.then(|| finding(text)).into_iter().collect())
}

/// Returns the comparison behind a claim: the one whose ratio is nearest to the claimed one.
fn behind_the_claim(e: &Evidence) -> Result<&ComparisonEvidence, Unevaluated> {
    let claim = e.claim.need("the claim")?;
    let comparisons = e.comparisons.need("the comparison behind the claim")?;
    let distance = |c: &&ComparisonEvidence| match (c.ratio, claim.ratio) {
        (Some(a), Some(b)) => (a.ln().abs() - b.ln().abs()).abs(),
        _ => f64::INFINITY,
    };
    let nearest = comparisons.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    need(nearest, "the comparison behind the claim")
}
