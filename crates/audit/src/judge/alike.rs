//! Judges statements about the systems compared: the same processor, a faster clock.

use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::detect::Found;
use crate::judge::reading::{self, Claimed, Operand};

/// "using the same processor": the rows of a comparison that was bound must state it too.
pub(crate) fn same_processor(
    context: &Context<'_>,
    found: &Found,
    judged: &Claim,
) -> Option<Claim> {
    let tokens = context.tokens(found);
    let at = (0..tokens.len()).find(|i| {
        tokens[*i].lower == "same"
            && tokens.get(i + 1).is_some_and(|t| {
                matches!(
                    t.lower.as_str(),
                    "processor" | "processors" | "chip" | "chips" | "cpu" | "cpus"
                )
            })
    })?;
    if !matches!(judged.verdict, ClaimVerdict::Holds | ClaimVerdict::OffByRounding)
        || judged.inputs.len() != 2
    {
        return None;
    }
    let row = |input: &crate::claim::Input| {
        let place = input.place?;
        let row = context
            .document
            .tables
            .iter()
            .flat_map(|t| &t.rows)
            .find(|r| context.source.place(r.span.start).0 == place.0)?;
        let read = crate::read::token::tokens(context.document.text, row.span);
        let stated = crate::detect::processor::designations(&read);
        (stated.len() == 1).then(|| stated.into_iter().next()).flatten()
    };
    let (a, b) = (row(&judged.inputs[0])?, row(&judged.inputs[1])?);
    let end = (at + 2).min(tokens.len() - 1);
    let span = crate::read::source::Span::new(
        tokens[at.saturating_sub(2)].span.start,
        tokens[end].span.end,
    );
    let mut claim = context.claim_at(ClaimKind::Naming, span, "");
    claim.inputs.clone_from(&judged.inputs);
    let differ = crate::detect::processor::differ(&a, &b);
    claim.verdict = if differ { ClaimVerdict::Wrong } else { ClaimVerdict::Holds };
    claim.reason =
        format!("{} and {} in the rows that give the number", a.to_uppercase(), b.to_uppercase());
    Some(claim)
}

/// "a 9% faster clock": two clocks that the results' systems have.
pub(crate) fn clocks(
    context: &Context<'_>,
    found: &Found,
    claimed: Claimed,
    base: &Claim,
) -> Option<Claim> {
    let tokens = context.tokens(found);
    let end = (found.at + 6).min(found.clause.end);
    tokens[found.at..end]
        .iter()
        .take_while(|t| !matches!(t.lower.as_str(), "than" | "over"))
        .find(|t| matches!(t.lower.as_str(), "clock" | "clocks" | "frequency" | "clocked"))?;
    let mut clocks: Vec<f64> =
        context.quantities.all.iter().filter_map(|q| q.attributes.ghz).collect();
    clocks.sort_by(f64::total_cmp);
    clocks.dedup();
    for high in &clocks {
        for low in clocks.iter().filter(|l| *l < high) {
            let formula =
                if found.kind == ClaimKind::Times { reading::RATIO } else { reading::MORE };
            let made = reading::read(
                formula,
                claimed,
                Operand { value: *high, step: 0.0 },
                Operand { value: *low, step: 0.0 },
            );
            if made.verdict == ClaimVerdict::Holds {
                let mut claim = base.clone();
                claim.verdict = ClaimVerdict::Holds;
                claim.computed = Some(made.value);
                claim.reason = format!("clocks of {high} and {low} GHz: {}", made.formula);
                claim.readings = vec![made];
                return Some(claim);
            }
        }
    }
    Some(base.clone())
}
