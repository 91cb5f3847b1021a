//! F32 to F36: does the interval support the claim?

use assay_model::Verdict;

use super::environment::nothing_compared;
use crate::check::{Evaluation, at, found_or_missing, need, not_applicable, number, plain};
use crate::rows::{N, W};
use crate::{ComparisonEvidence, Evidence, Verb, VerdictBasis};

pub(crate) fn interval_present(e: &Evidence) -> Evaluation {
    let numbers = e.numbers.need("the numbers that are shown")?;
    let bare: Vec<&str> = numbers
        .iter()
        .filter(|n| n.interval.is_none() && !n.deterministic)
        .filter(|n| n.kind.is_none_or(|k| k != assay_model::Kind::Quoted))
        .map(|n| n.what.as_str())
        .collect();
    let quoted = |n: &&crate::NumberEvidence| {
        n.kind == Some(assay_model::Kind::Quoted) && n.interval.is_none() && !n.deterministic
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

pub(crate) fn interval_on_ratio(e: &Evidence) -> Evaluation {
    let comparisons = e.comparisons.need("what the verdicts rest on")?;
    let mut found = Vec::new();
    for c in comparisons {
        match need(c.basis.as_ref(), format!("what the verdict on {} rests on", c.label))? {
            VerdictBasis::RatioInterval => {}
            VerdictBasis::Overlap => found.push(plain(format!(
                "the verdict on {} rests on whether two intervals overlap",
                c.label
            ))),
            VerdictBasis::RatioSigma => found.push(plain(format!(
                "the verdict on {} rests on a ratio and its standard deviation",
                c.label
            ))),
        }
    }
    Ok(found)
}

/// The comparison that a claim rests on: the only one, or that of the claimed ratio.
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
    let verb = *need(claim.verb.as_ref(), "what the claim says")?;
    if let Some(results) = &claim.contradicted {
        let text = format!("{results}: \"{}\"", claim.text);
        return Ok(vec![
            plain(text).remedy("say what the results say, or let `{{ better(...) }}` say it"),
        ]);
    }
    let comparison = match verb {
        Verb::Direction | Verb::States => behind_the_claim(e)?,
        _ => return not_applicable("the claim states no direction"),
    };
    let says = if claim.text.is_empty() { String::new() } else { format!("`{}`: ", claim.text) };
    let unclear = |interval: &assay_model::Interval| {
        interval.contains(1.0) || comparison.verdict == Some(Verdict::Inconclusive)
    };
    if let Some(i) = comparison.interval.filter(unclear) {
        let text = format!(
            "{says}the data allow ratios from {:.4} to {:.4}: the direction is not established",
            i.low, i.high
        );
        return Ok(match (verb, comparison.verdict) {
            (Verb::States, Some(Verdict::Equivalent)) => Vec::new(),
            // The words follow the numbers, and a reader may take the ratio for a direction.
            (Verb::States, _) => vec![at(W, text)],
            _ => vec![plain(text)],
        });
    }
    if verb == Verb::States {
        return not_applicable("the claim states no direction");
    }
    need(comparison.interval.as_ref(), format!("{says}the interval of the claimed ratio"))?;
    Ok(Vec::new())
}

pub(crate) fn equality(e: &Evidence) -> Evaluation {
    let claim = e.claim.need("the claim")?;
    if *need(claim.verb.as_ref(), "what the claim says")? != Verb::Same {
        return not_applicable("the claim states no equality");
    }
    let comparison = behind_the_claim(e)?;
    let says = if claim.text.is_empty() { String::new() } else { format!("`{}`: ", claim.text) };
    let Some(margin) = comparison.margin else {
        let text = format!("{says}no margin was declared, so nothing can be shown to be the same");
        return Ok(vec![plain(text)]);
    };
    let interval = *need(comparison.interval.as_ref(), "the interval of the claimed ratio")?;
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    if interval.low < 1.0 / (1.0 + margin) || interval.high > 1.0 + margin {
        found.push(plain(format!(
            "{says}the interval {:.3} to {:.3} is not inside the margin of {:.1} %: finding no difference is not showing none",
            interval.low,
            interval.high,
            margin * 100.0
        )));
    }
    match comparison.margin_declared_before {
        Some(false) => found.push(plain("the margin was chosen after the data were seen")),
        Some(true) => {}
        None => lacking.push("when the margin was declared".to_owned()),
    }
    found_or_missing(found, &lacking)
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
            // Nothing says which effect matters.
            not_applicable("no margin is declared and no effect is claimed")
        }
        None => Ok(Vec::new()),
    }
}
