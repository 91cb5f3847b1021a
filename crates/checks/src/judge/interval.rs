//! F32 to F36: the interval supports the claim.

use assay_model::Verdict;

use super::environment::nothing_compared;
use crate::check::{Evaluation, at, need, not_applicable, number, plain};
use crate::rows::N;
use crate::{ComparisonEvidence, Evidence, Verb};

pub(crate) fn interval_present(e: &Evidence) -> Evaluation {
    let numbers = e.numbers.need("the numbers that are shown")?;
    let bare: Vec<&str> = numbers
        .iter()
        .filter(|n| n.interval.is_none() && !n.deterministic)
        .filter(|n| n.kind.is_none_or(|k| k != assay_model::MetricKind::Quoted))
        .map(|n| n.what.as_str())
        .collect();
    let quoted = |n: &&crate::NumberEvidence| {
        n.kind == Some(assay_model::MetricKind::Quoted) && n.interval.is_none() && !n.deterministic
    };
    let printed_without = numbers.iter().filter(quoted).count();
    if bare.is_empty() && printed_without == 0 {
        return Ok(Vec::new());
    }
    if bare.is_empty() {
        let (results, carry) =
            if printed_without == 1 { ("result", "carries") } else { ("results", "carry") };
        let text = format!(
            "{printed_without} quoted {results} {carry} no interval: their sources print none"
        );
        return Ok(vec![at(N, text).remedy("")]);
    }
    let have = if bare.len() == 1 { "has" } else { "have" };
    Ok(vec![plain(format!("{} {have} no interval", super::environment::shortened(&bare)))])
}

/// Returns the comparison behind a claim: the one whose ratio is nearest to the claimed one.
fn behind_the_claim(e: &Evidence) -> Result<&ComparisonEvidence, crate::check::Stop> {
    let claim = e.claim.need("the claim")?;
    let comparisons = e.comparisons.need("the comparison behind the claim")?;
    let distance = |c: &&ComparisonEvidence| match (c.ratio, claim.ratio) {
        (Some(a), Some(b)) => (a.ln().abs() - b.ln().abs()).abs(),
        _ => f64::INFINITY,
    };
    let nearest = comparisons.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    need(nearest, "the comparison behind the claim")
}

pub(crate) fn direction(e: &Evidence) -> Evaluation {
    let claim = e.claim.need("the claim")?;
    if *need(claim.verb.as_ref(), "what the claim says")? != Verb::States {
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
    let text = || {
        plain(format!(
            "the data allow ratios from {:.4} to {:.4}: the direction is not established",
            interval.low, interval.high
        ))
    };
    Ok(open.then(text).into_iter().collect())
}

pub(crate) fn detectable(e: &Evidence) -> Evaluation {
    let comparisons = e.comparisons.need("the smallest effect that the design finds")?;
    if comparisons.is_empty() {
        return nothing_compared();
    }
    let claimed = e.claim.get().and_then(|c| c.ratio).map(|r| r.ln().abs().exp() - 1.0);
    let mut blind: Option<(f64, String)> = None;
    for c in comparisons {
        let what = format!("the smallest effect that the comparison of {} finds", c.label);
        let mde = number(c.detectable, what)? - 1.0;
        let open = c.verdict.is_none_or(|v| v == Verdict::Inconclusive);
        let beyond = match (c.margin, claimed) {
            (Some(m), _) if open && mde > m => Some(format!("the margin is {:.1} %", m * 100.0)),
            (_, Some(x)) if mde > x => Some(format!("the claim is about {:.1} %", x * 100.0)),
            _ => None,
        };
        if let Some(beyond) = beyond
            && blind.as_ref().is_none_or(|(worst, _)| mde > *worst)
        {
            blind = Some((mde, beyond));
        }
    }
    match blind {
        Some((mde, beyond)) => Ok(vec![plain(format!(
            "this design sees effects above {:.1} %, and {beyond}",
            mde * 100.0
        ))]),
        None if comparisons.iter().all(|c| c.margin.is_none()) && claimed.is_none() => {
            // No margin or claim defines the effect that matters.
            not_applicable("no margin is declared and no effect is claimed")
        }
        None => Ok(Vec::new()),
    }
}
