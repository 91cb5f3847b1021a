//! Judges comparisons: so many per cent better, so many times, for each watt or core.

use crate::bind::context::Context;
use crate::bind::quantity::Quantity;
use crate::bind::{self, MARGIN, Pair, Side};
use crate::claim::{Claim, ClaimKind, ClaimVerdict, Reading};
use crate::detect::Found;
use crate::detect::pointing::compares_down;
use crate::detect::vocabulary::{OTHER, PERFORMANCE};
use crate::judge::alike;
use crate::judge::beside;
use crate::judge::denominator;
use crate::judge::reading::{self, Claimed, Formula, Operand};
use crate::read::unit::Unit;

/// Judges a claim of kind percent, times or for each denominator.
pub(crate) fn judge(context: &Context<'_>, found: &Found) -> Claim {
    let tokens = context.tokens(found);
    let denominator = denominator::denominator(tokens, found);
    let kind = if denominator.is_some() { ClaimKind::PerDenominator } else { found.kind };
    let mut claim = context.claim(kind, found);
    let Some((value, step)) = found.value else {
        return claim;
    };
    let claimed = Claimed { value, step, bound: found.bound };
    if let Some(done) = beside::in_sentence(context, found, claimed, &claim) {
        return done;
    }
    let (subject, baseline) = context.sides(found);
    let pairs = bind::pairs(&context.quantities, &subject, &baseline);
    if let Some(done) = alike::clocks(context, found, claimed, &claim) {
        return done;
    }
    if let Some(to) = found.to {
        return range(context, found, claimed, to, &subject, &baseline, claim);
    }
    if pairs.is_empty() {
        claim.reason = missing(context, &subject, &baseline);
        return claim;
    }
    if let Some(denominator) = denominator {
        return denominator::per_denominator(context, found, claimed, denominator, &pairs, claim);
    }
    plain(context, found, claimed, &pairs, (&subject, &baseline), claim)
}

/// The reason when no pair of results fits.
fn missing(context: &Context<'_>, subject: &Side, baseline: &Side) -> String {
    let none = |side: &Side| bind::candidates(&context.quantities, side).is_empty();
    match (none(subject), none(baseline)) {
        (_, true) if baseline.phrase.is_empty() => {
            "it does not say what it is compared with".into()
        }
        (true, true) => "no result is printed for either side".into(),
        (true, false) => format!("no result is printed for \"{}\"", subject.phrase),
        (false, true) => format!("no result is printed for \"{}\"", baseline.phrase),
        (false, false) => {
            "the results that are printed for the two sides are not of one kind".into()
        }
    }
}

/// The readings that the claim's words allow for two values.
pub(crate) fn formulas(
    context: &Context<'_>,
    found: &Found,
    a: &Quantity,
    b: &Quantity,
) -> Vec<Formula> {
    let tokens = context.tokens(found);
    let from = found.at.saturating_sub(4).max(found.clause.start);
    let to = (found.at + 6).min(found.clause.end);
    let down = tokens[from..to].iter().any(|t| compares_down(&t.lower));
    let more = tokens[found.at..to]
        .iter()
        .any(|t| matches!(t.lower.as_str(), "more" | "faster" | "better" | "higher"));
    let percentages = a.unit == Some(Unit::Percent) && b.unit == Some(Unit::Percent);
    if found.kind == ClaimKind::Times {
        return match (a.lower_is_better, more || down) {
            (true, _) => vec![reading::INVERSE, reading::RATIO],
            (false, true) if down => vec![reading::INVERSE, reading::RATIO],
            (false, true) => vec![reading::RATIO, reading::RATIO_MORE],
            (false, false) => vec![reading::RATIO],
        };
    }
    let mut formulas = match (down, a.lower_is_better) {
        (false, false) => vec![reading::MORE],
        (_, true) => vec![reading::LESS, reading::SPEEDUP, reading::MORE],
        (true, false) => vec![reading::LESS, reading::SPEEDUP],
    };
    if percentages {
        formulas.push(reading::POINTS);
        formulas.push(reading::POINTS_LESS);
    }
    formulas
}

/// The readings for a pair, the best first.
fn readings(
    context: &Context<'_>,
    found: &Found,
    claimed: Claimed,
    a: &Quantity,
    b: &Quantity,
) -> Vec<Reading> {
    let mut readings: Vec<Reading> = formulas(context, found, a, b)
        .into_iter()
        .map(|f| reading::read(f, claimed, operand(a), operand(b)))
        .collect();
    sort(&mut readings);
    readings
}

pub(crate) fn sort(readings: &mut [Reading]) {
    let rank = |v: ClaimVerdict| match v {
        ClaimVerdict::Holds => 0,
        ClaimVerdict::OffByRounding => 1,
        _ => 2,
    };
    readings.sort_by_key(|r| rank(r.verdict));
}

pub(crate) fn operand(q: &Quantity) -> Operand {
    Operand { value: q.value * q.scale, step: q.step * q.scale }
}

fn plain(
    context: &Context<'_>,
    found: &Found,
    claimed: Claimed,
    pairs: &[Pair],
    sides: (&Side, &Side),
    mut claim: Claim,
) -> Claim {
    let best_score = pairs[0].score;
    let read = |p: &Pair| {
        let (a, b) = (&context.quantities.all[p.a], &context.quantities.all[p.b]);
        readings(context, found, claimed, a, b)
    };
    let fits = |readings: &[Reading]| readings.first().map_or(ClaimVerdict::Wrong, |r| r.verdict);
    let top: Vec<&Pair> = pairs.iter().take_while(|p| p.score >= best_score - MARGIN).collect();
    // "more than" and "up to" fit too many pairs.
    let reach = if matches!(found.bound, reading::Bound::Exact | reading::Bound::About) {
        3.0
    } else {
        MARGIN
    };
    let near: Vec<&Pair> =
        pairs.iter().take_while(|p| p.score >= best_score - reach).take(60).collect();
    let by = |wanted: ClaimVerdict, set: &[&Pair]| {
        set.iter().copied().find(|p| fits(&read(p)) == wanted).copied()
    };
    let chosen = by(ClaimVerdict::Holds, &top)
        .map(|p| (p, ClaimVerdict::Holds))
        .or_else(|| by(ClaimVerdict::OffByRounding, &top).map(|p| (p, ClaimVerdict::OffByRounding)))
        .or_else(|| by(ClaimVerdict::Holds, &near).map(|p| (p, ClaimVerdict::Holds)));
    let (pair, verdict) = chosen.unwrap_or((pairs[0], ClaimVerdict::Wrong));
    let readings = read(&pair);
    let Some(best) = readings.first().cloned() else { return claim };
    context.fill(&mut claim, &pair, best.value);
    claim.reason = format!("{} ({})", best.formula, best.name);
    claim.readings = readings;
    claim.verdict = verdict;
    // Nothing is 388% less than another.
    if verdict == ClaimVerdict::Holds
        && found.kind == ClaimKind::Percent
        && claimed.value >= 100.0
        && best.name == reading::SPEEDUP.name
    {
        claim.verdict = ClaimVerdict::Ambiguous;
    }
    if verdict == ClaimVerdict::Wrong {
        claim.verdict = if !is_about_performance(context, found)
            || !anchored(context, sides.0) && !anchored(context, sides.1)
        {
            claim.computed = None;
            claim.readings.clear();
            claim.inputs.clear();
            claim.reason = "no printed results that it is surely about give this number".into();
            ClaimVerdict::Unsupported
        } else if certain(context, found, pairs, sides, &read) {
            ClaimVerdict::Wrong
        } else {
            claim.reason =
                format!("{}, but it may be about other results than these", claim.reason);
            ClaimVerdict::Ambiguous
        };
    }
    claim
}

/// Whether the words around a claim say that it is about the results, not about price, memory or code.
fn is_about_performance(context: &Context<'_>, found: &Found) -> bool {
    let tokens = context.tokens(found);
    let after = tokens[found.at..found.clause.end]
        .iter()
        .take(7)
        .take_while(|t| !matches!(t.lower.as_str(), "than" | "over" | "of" | "compared"));
    tokens[found.clause.clone()].iter().any(|t| PERFORMANCE.contains(&t.lower.as_str()))
        && !after.into_iter().any(|t| t.lower.split('/').any(|w| OTHER.contains(&w)))
}

/// Whether a side names its result: a model, a value, or words that tell.
fn anchored(context: &Context<'_>, side: &Side) -> bool {
    side.explicit.is_some()
        || !side.mention.models.is_empty()
        || side.mention.words.iter().map(|w| context.quantities.weight(w)).sum::<f64>() >= 2.0
}

/// Whether there is no doubt which results are meant, so that a claim that fails is wrong: both
/// sides name a model or print the value, one pair of values fits clearly best, neither the other
/// way round nor with any other printed result for either side does the number come out, and the
/// words do not hedge.
fn certain(
    context: &Context<'_>,
    found: &Found,
    pairs: &[Pair],
    sides: (&Side, &Side),
    read: &dyn Fn(&Pair) -> Vec<Reading>,
) -> bool {
    let named = |s: &Side| s.explicit.is_some() || !s.mention.models.is_empty();
    if !named(sides.0) || !named(sides.1) || found.to.is_some() {
        return false;
    }
    if matches!(
        found.bound,
        reading::Bound::About | reading::Bound::AtMost | reading::Bound::Nearly
    ) {
        return false;
    }
    let all = &context.quantities.all;
    // What is stated of either side must be true of its row: no other clock, count or version.
    let unlike = |q: usize, side: &Side| {
        all[q].attributes.agreement(&side.mention.attributes).1 > 0 || !side.unknown.is_empty()
    };
    if unlike(pairs[0].a, sides.0) || unlike(pairs[0].b, sides.1) {
        return false;
    }
    let values = |p: &Pair| (all[p.a].value.to_bits(), all[p.b].value.to_bits());
    let first = values(&pairs[0]);
    let other_kind = |p: &Pair| all[p.a].is_each() && !all[pairs[0].a].is_each();
    let rivals = pairs.iter().filter(|p| values(p) != first && !other_kind(p)).collect::<Vec<_>>();
    if rivals.first().is_some_and(|p| p.score > pairs[0].score - 1.5) {
        return false;
    }
    let fits = |p: &Pair| read(p).iter().any(|r| r.verdict != ClaimVerdict::Wrong);
    let swapped = Pair { a: pairs[0].b, b: pairs[0].a, score: 0.0 };
    !rivals.iter().any(|p| fits(p)) && !fits(&swapped)
}

/// "4% to 13%": the smallest and the largest of the comparisons that the words allow.
fn range(
    context: &Context<'_>,
    found: &Found,
    low: Claimed,
    to: (f64, f64),
    subject: &Side,
    baseline: &Side,
    mut claim: Claim,
) -> Claim {
    let high = Claimed { value: to.0, step: to.1, bound: low.bound };
    let pairs = bind::pairs(&context.quantities, subject, baseline);
    let mut ends: (Option<Pair>, Option<Pair>) = (None, None);
    for pair in &pairs {
        let (a, b) = (&context.quantities.all[pair.a], &context.quantities.all[pair.b]);
        for formula in formulas(context, found, a, b) {
            let fit = |c: Claimed| {
                reading::read(formula, c, operand(a), operand(b)).verdict != ClaimVerdict::Wrong
            };
            if ends.0.is_none() && fit(low) {
                ends.0 = Some(*pair);
            }
            if ends.1.is_none() && fit(high) {
                ends.1 = Some(*pair);
            }
        }
    }
    match ends {
        (Some(a), Some(b)) => {
            context.fill(&mut claim, &a, low.value);
            let mut second = claim.clone();
            context.fill(&mut second, &b, high.value);
            claim.inputs.append(&mut second.inputs);
            claim.verdict = ClaimVerdict::Holds;
            claim.reason = "both ends come out of printed results".into();
        }
        (Some(p), None) | (None, Some(p)) => {
            context.fill(&mut claim, &p, low.value);
            claim.computed = None;
            claim.verdict = ClaimVerdict::Ambiguous;
            claim.reason =
                "one end of the range comes out of printed results, the other does not".into();
        }
        (None, None) => claim.reason = missing(context, subject, baseline),
    }
    claim
}
