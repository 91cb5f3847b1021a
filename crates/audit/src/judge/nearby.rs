//! Looks for what a claim was computed from among the values that the prose before it prints: "it
//! fell from 30 to 15 minutes. That is 15 minutes less." A match is a match; that there is none
//! proves nothing.

use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::detect::Found;
use crate::detect::pointing::{Way, way};
use crate::judge::reading::{self, Claimed, Formula, Operand, read};
use crate::read::source::Span;
use crate::read::token::{Number, Token};
use crate::read::unit::Unit;

/// How many sentences before the claim's own are looked at.
const BACK: usize = 1;

/// A value of the prose: its place, its number.
pub(crate) type Value<'a> = (Span, &'a Number);

/// Values with a unit of their own in the claim's sentence and those before it, the nearest first.
pub(crate) fn values<'a>(
    context: &'a Context<'_>,
    sentence: usize,
    except: Span,
) -> Vec<Value<'a>> {
    let first = sentence.saturating_sub(BACK);
    context.reading.tokens[first..=sentence]
        .iter()
        .rev()
        .flatten()
        .filter(|t: &&Token| t.span != except)
        .filter_map(|t| t.quantity().map(|n| (t.span, n)))
        .filter(|(_, n)| {
            !n.spelled
                && !matches!(
                    n.unit,
                    Some(
                        Unit::Percent
                            | Unit::Times
                            | Unit::Frequency
                            | Unit::RackUnits
                            | Unit::Count(_)
                    )
                )
        })
        .filter(|(_, n)| n.unit.is_some() || n.value / n.step >= 100.0)
        .take(16)
        .collect()
}

/// A comparison that the tables do not explain, explained by two values nearby.
pub(crate) fn comparison(context: &Context<'_>, found: &Found) -> Option<Claim> {
    let (value, step) = found.value?;
    let at = context.tokens(found)[found.at].span;
    let tokens = context.tokens(found);
    // The sentence before is asked only by words that point back to it.
    let back = tokens.iter().take(3).any(|t| {
        matches!(t.lower.as_str(), "that" | "this" | "it" | "these" | "so" | "which" | "thus")
    });
    let own = context.document.sentences[found.sentence].span;
    let mut near = values(context, found.sentence, at);
    if !back {
        near.retain(|(span, _)| span.start >= own.start && span.end <= own.end);
    }
    let at_word = |i: usize| tokens.get(i).and_then(|t| way(&t.lower));
    let nearest = (found.at + 1..found.at + 4)
        .find_map(at_word)
        .or_else(|| (found.at.saturating_sub(14)..found.at).rev().find_map(at_word));
    let (up, down) = (nearest == Some(Way::More), nearest == Some(Way::Less));
    if found.kind != ClaimKind::Difference && nearest == Some(Way::Slower) {
        return None;
    }
    let says = |word: &str| tokens.iter().position(|t| t.lower == word);
    let linked = found.kind != ClaimKind::Difference
        && says("from").zip(says("to")).is_some_and(|(from, to)| from < to);
    let difference = found.kind == ClaimKind::Difference;
    let scale = if difference { context.tokens(found)[found.at].quantity()?.scale } else { 1.0 };
    let claimed = Claimed { value: value * scale, step: step * scale, bound: found.bound };
    let formulas: &[Formula] = match found.kind {
        ClaimKind::Times => &[reading::RATIO],
        ClaimKind::Percent if up => &[reading::MORE],
        ClaimKind::Percent if down => &[reading::LESS],
        ClaimKind::Percent => &[reading::MORE, reading::LESS],
        ClaimKind::Difference => &[reading::POINTS],
        _ => return None,
    };
    let unit = context.tokens(found)[found.at].quantity().and_then(|n| n.unit.clone());
    for (i, (a_span, a)) in near.iter().enumerate() {
        for (b_span, b) in &near[i + 1..] {
            // "rose from 40 to 10" points elsewhere than its values.
            let against = linked && (up && b.base() < a.base() || down && b.base() > a.base());
            if against || a.unit != b.unit || a.value == b.value || (difference && a.unit != unit) {
                continue;
            }
            let make = |n: &Number| Operand { value: n.base(), step: n.step * n.scale };
            for (x, y) in [(make(a), make(b)), (make(b), make(a))] {
                let hit = formulas
                    .iter()
                    .map(|f| read(*f, claimed, x, y))
                    .find(|r| r.verdict == ClaimVerdict::Holds);
                let Some(hit) = hit else { continue };
                if found.bound == reading::Bound::AtLeast && hit.value > 1.5 * claimed.value {
                    continue;
                }
                let mut claim = context.claim(found.kind, found);
                claim.verdict = ClaimVerdict::Holds;
                claim.computed = Some(hit.value / scale);
                claim.inputs = vec![
                    context.input_at("printed nearby", a.value, *a_span),
                    context.input_at("printed nearby", b.value, *b_span),
                ];
                claim.reason = format!("{} ({}), from two values nearby", hit.formula, hit.name);
                claim.readings = vec![hit];
                return Some(claim);
            }
        }
    }
    None
}

/// Data multiplied by a count ("with 32 processors 87 Gbit/s"), and data as a rate by a time. The
/// same digits in bits where there were bytes are a slip of the unit. What a conversion of the
/// sentence has taken (token ranges) is left to it.
pub(crate) fn product(
    context: &Context<'_>,
    sentence: usize,
    taken: &[std::ops::Range<usize>],
) -> Option<Claim> {
    let tokens = &context.reading.tokens[sentence];
    let data = |n: &Number| {
        matches!(n.unit, Some(Unit::Bytes | Unit::Bits | Unit::ByteRate | Unit::BitRate))
    };
    let counts: Vec<f64> = tokens
        .iter()
        .filter_map(Token::quantity)
        .filter(|n| {
            matches!(n.unit, None | Some(Unit::Count(_)))
                && n.step == 1.0
                && (2.0..=4096.0).contains(&n.value)
        })
        .map(|n| n.value)
        .collect();
    let derives = tokens.iter().any(|t| {
        matches!(
            t.lower.as_str(),
            "total"
                | "so"
                | "would"
                | "that"
                | "thus"
                | "gives"
                | "give"
                | "means"
                | "aggregate"
                | "together"
                | "times"
                | "could"
                | "guess"
                | "extrapolate"
                | "extrapolated"
                | "extrapolating"
                | "theoretical"
                | "theoretically"
                | "expect"
                | "should"
                | "roughly"
        )
    });
    for (at, token) in tokens.iter().enumerate().rev() {
        if taken.iter().any(|t| t.contains(&at)) {
            continue;
        }
        let Some(total) = token.quantity().filter(|n| data(n)) else { continue };
        for (span, one) in
            values(context, sentence, token.span).into_iter().filter(|(_, n)| data(n))
        {
            for count in &counts {
                let claimed =
                    Claimed { value: total.value, step: total.step, bound: reading::Bound::Exact };
                let same = one.unit == total.unit;
                let computed = one.base() * count / total.scale;
                let fits = |v: f64| claimed.fit(v, v, v) == ClaimVerdict::Holds;
                let digits = one.value * count;
                let slip = bits(one) != bits(total)
                    && one.scale == total.scale
                    && fits(digits)
                    && total.value / total.step >= 10.0;
                if !(same && fits(computed) || slip && derives) {
                    continue;
                }
                let place = context.document.sentences[sentence].span;
                let mut claim = context.claim_at(ClaimKind::Conversion, place, "");
                claim.claimed = Some(total.value);
                claim.inputs = vec![context.input_at("one", one.value, span)];
                let eighth = if bits(one) { 1.0 / 8.0 } else { 8.0 };
                claim.computed = Some(if slip { computed * eighth } else { computed });
                claim.verdict = if slip { ClaimVerdict::Wrong } else { ClaimVerdict::Holds };
                claim.reason = if slip {
                    let (own, other) =
                        if bits(one) { ("bits", "bytes") } else { ("bytes", "bits") };
                    format!(
                        "{} × {count} = {} counts {own}; in {other} it is {}",
                        reading::figure(one.value),
                        reading::figure(digits),
                        reading::figure(computed * eighth)
                    )
                } else {
                    format!(
                        "{} × {count} = {}",
                        reading::figure(one.value),
                        reading::figure(computed)
                    )
                };
                return Some(claim);
            }
        }
    }
    duration(context, sentence)
}

fn bits(n: &Number) -> bool {
    matches!(n.unit, Some(Unit::Bits | Unit::BitRate))
}

/// "267 MB at 50 MB/s take 5.3 seconds": reported only when it fits.
fn duration(context: &Context<'_>, sentence: usize) -> Option<Claim> {
    let tokens = &context.reading.tokens[sentence];
    let one = |unit: Unit| {
        let mut all = tokens
            .iter()
            .filter_map(|t| t.quantity().map(|n| (t.span, n)))
            .filter(|(_, n)| n.is(&unit));
        all.next().filter(|_| all.next().is_none())
    };
    let ((_, size), (_, rate), (_, time)) =
        (one(Unit::Bytes)?, one(Unit::ByteRate)?, one(Unit::Time)?);
    let computed = size.base() / rate.base() / time.scale;
    let claimed = Claimed { value: time.value, step: time.step, bound: reading::Bound::Exact };
    if claimed.fit(computed, computed, computed) != ClaimVerdict::Holds {
        return None;
    }
    let mut claim =
        context.claim_at(ClaimKind::Conversion, context.document.sentences[sentence].span, "");
    claim.claimed = Some(time.value);
    claim.computed = Some(computed);
    claim.verdict = ClaimVerdict::Holds;
    claim.reason = format!(
        "{}/{} = {}",
        reading::figure(size.value),
        reading::figure(rate.value),
        reading::figure(computed)
    );
    Some(claim)
}
