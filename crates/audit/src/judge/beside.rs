//! Judges a comparison by the two values that its own sentence prints: "from 30 to 15 minutes, 2x".

use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict, Reading};
use crate::detect::Found;
use crate::detect::pointing::{Way, compares_down, way};
use crate::judge::compare::sort;
use crate::judge::denominator::denominator;
use crate::judge::reading::{self, Claimed, Formula, Operand};
use crate::read::unit::Unit;

/// Two values of one kind in the claim's own sentence: "from 30 to 15 minutes, 2x", "44 vs. 21".
pub(crate) fn in_sentence(
    context: &Context<'_>,
    found: &Found,
    claimed: Claimed,
    base: &Claim,
) -> Option<Claim> {
    let tokens = context.tokens(found);
    let values: Vec<(usize, &crate::read::token::Number)> = tokens
        .iter()
        .enumerate()
        .filter(|(i, _)| *i != found.at)
        .filter_map(|(i, t)| t.quantity().map(|n| (i, n)))
        .filter(|(_, n)| {
            !n.spelled
                && !matches!(
                    n.unit,
                    Some(
                        Unit::Percent
                            | Unit::Times
                            | Unit::Count(_)
                            | Unit::Frequency
                            | Unit::RackUnits
                    )
                )
        })
        .collect();
    let [(i, first), (j, second)] = values.as_slice() else { return None };
    let unit = first.unit.as_ref().or(second.unit.as_ref());
    let same = first.unit == second.unit || first.unit.is_none();
    let linked = tokens[*i + 1..*j].iter().any(|t| {
        matches!(
            t.lower.as_str(),
            "to" | "vs" | "versus" | "against" | "than" | "compared" | "and" | "over"
        ) || t.is_mark('/')
    });
    let size = first.value / second.value;
    if !same
        || !linked
        || !(0.01..100.0).contains(&size)
        || first.value == second.value
        || tokens[*i].lower.len() < 2 && tokens[*j].lower.len() < 2
    {
        return None;
    }
    let scale = second.scale;
    let time = unit == Some(&Unit::Time);
    let make =
        |n: &crate::read::token::Number| Operand { value: n.value * scale, step: n.step * scale };
    let (a, b) = (make(first), make(second));
    let tokens_down = tokens.iter().any(|t| compares_down(&t.lower));
    let (a, b) = if tokens[..*j].iter().any(|t| t.lower == "from") { (b, a) } else { (a, b) };
    let set: &[Formula] = match (found.kind, time || tokens_down) {
        (ClaimKind::Times, false) => &[reading::RATIO, reading::RATIO_MORE],
        (ClaimKind::Times, true) => &[reading::INVERSE, reading::RATIO],
        (_, false) => &[reading::MORE],
        (_, true) => &[reading::LESS, reading::SPEEDUP, reading::MORE],
    };
    let mut readings: Vec<Reading> = set.iter().map(|f| reading::read(*f, claimed, a, b)).collect();
    sort(&mut readings);
    let best = readings.first()?.clone();
    let mut claim = base.clone();
    claim.computed = Some(best.value);
    claim.inputs = vec![
        context.input_at("first value", a.value / scale, tokens[*i].span),
        context.input_at("second value", b.value / scale, tokens[*j].span),
    ];
    // "25% less" as a share of the smaller value is another base than its words say.
    let less = tokens[found.at..].iter().take(4).any(|t| way(&t.lower) == Some(Way::Less));
    let based = found.kind == ClaimKind::Percent && less && best.name != reading::LESS.name;
    claim.verdict = match best.verdict {
        ClaimVerdict::Holds | ClaimVerdict::OffByRounding if based => {
            claim.reason = format!("{} ({}), of another base", best.formula, best.name);
            ClaimVerdict::Ambiguous
        }
        // Two numbers beside a claim may be about something else.
        ClaimVerdict::Wrong => {
            let swapped =
                set.iter().any(|f| reading::read(*f, claimed, b, a).verdict != ClaimVerdict::Wrong);
            let spoken = tokens[*i + 1..*j]
                .iter()
                .any(|t| matches!(t.lower.as_str(), "to" | "vs" | "versus"));
            let others = context
                .reading
                .found
                .iter()
                .filter(|f| f.sentence == found.sentence && f.kind != ClaimKind::Difference);
            let alone = others.count() == 1
                && matches!(found.bound, reading::Bound::Exact | reading::Bound::AtLeast);
            if swapped
                || !spoken
                || !alone
                || found.to.is_some()
                || first.unit.is_none()
                || denominator(tokens, found).is_some()
            {
                return None;
            }
            claim.reason = format!("{} from the two values beside it", best.formula);
            ClaimVerdict::Wrong
        }
        verdict => {
            claim.reason =
                format!("{} ({}), from the two values beside it", best.formula, best.name);
            verdict
        }
    };
    claim.readings = readings;
    Some(claim)
}
