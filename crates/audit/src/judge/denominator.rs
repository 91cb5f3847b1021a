//! Judges comparisons for each watt, core, chip, thread or rack unit.

use crate::bind::Pair;
use crate::bind::context::Context;
use crate::bind::quantity::Quantity;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::detect::Found;
use crate::detect::vocabulary::{DENOMINATORS, Denominator};
use crate::judge::reading::{self, Claimed, Operand};
use crate::read::token::Token;

/// What the claim divides by, if it states one.
pub(crate) fn denominator(tokens: &[Token], found: &Found) -> Option<Denominator> {
    let end = (found.at + 10).min(found.clause.end);
    for i in found.at..end {
        let lower = tokens[i].lower.as_str();
        let Some((_, denominator)) = DENOMINATORS.iter().find(|(w, _)| *w == lower) else {
            continue;
        };
        let before = i.checked_sub(1).map_or("", |p| tokens[p].lower.as_str());
        let before_slash = before == "/" || lower.contains('/');
        if before == "per"
            || before_slash
            || (before == "rack" && i > 1 && tokens[i - 2].lower == "per")
        {
            return Some(*denominator);
        }
    }
    None
}

fn attribute(q: &Quantity, denominator: Denominator) -> Option<f64> {
    let a = &q.attributes;
    match denominator {
        Denominator::Watts => a.watts,
        Denominator::Cores => a.cores,
        Denominator::Chips => a.chips,
        Denominator::Threads => a.threads,
        Denominator::RackUnits => a.rack_units,
        Denominator::Clock => a.ghz,
        Denominator::Unknown => None,
    }
}

pub(crate) fn per_denominator(
    context: &Context<'_>,
    found: &Found,
    claimed: Claimed,
    denominator: Denominator,
    pairs: &[Pair],
    mut claim: Claim,
) -> Claim {
    let word = denominator.word();
    let top: Vec<&Pair> = pairs.iter().take_while(|p| p.score >= pairs[0].score - 2.0).collect();
    let mut lacking = None;
    let mut tried = Vec::new();
    for pair in top {
        let (a, b) = (&context.quantities.all[pair.a], &context.quantities.all[pair.b]);
        let (Some(x), Some(y)) = (attribute(a, denominator), attribute(b, denominator)) else {
            let which = if attribute(a, denominator).is_none() { a } else { b };
            lacking.get_or_insert((*pair, which.name.clone()));
            continue;
        };
        let formula = if found.kind == ClaimKind::Times { reading::RATIO } else { reading::MORE };
        let made = reading::read(
            formula,
            claimed,
            Operand { value: a.value / x, step: a.step / x },
            Operand { value: b.value / y, step: b.step / y },
        );
        tried.push((*pair, made));
    }
    tried.sort_by_key(|(_, r)| r.verdict != ClaimVerdict::Holds);
    if let Some((pair, best)) = tried.first().cloned() {
        context.fill(&mut claim, &pair, best.value);
        claim.reason = format!("per {word}: {}", best.formula);
        claim.verdict = if best.verdict == ClaimVerdict::Wrong {
            ClaimVerdict::Ambiguous
        } else {
            best.verdict
        };
        claim.readings = tried.into_iter().map(|(_, r)| r).collect();
    } else if let Some((pair, name)) = lacking {
        context.fill(&mut claim, &pair, f64::NAN);
        claim.computed = None;
        claim.reason = format!("how many {word}s {name} has or takes is not printed");
    }
    claim
}
