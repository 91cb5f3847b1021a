//! Finds what a claim is about by weighing every reading that the text has evidence for.
//!
//! A claim is said ([`say`]); each pair of cells, each pair of amounts in the prose, each cell that it may be about is
//! a reading with features ([`model`]): where its names stand ([`words`]), whether its unit fits, which table it is of.
//! Weights that were learned from labelled texts turn these into a probability before the claim's number is looked
//! at; then it is looked at which readings agree with the number.

pub(crate) mod book;
mod cells;
pub(crate) mod decide;
mod derived;
pub(crate) mod fit;
pub(crate) mod model;
mod number;
mod prose;
pub(crate) mod reading;
pub(crate) mod say;
pub(crate) mod trust;
mod way;
pub(crate) mod words;

use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};

/// Puts what weighing decides in the place of claims without a verdict, and takes back verdicts that it does not
/// believe.
pub(crate) fn add(context: &Context<'_>, claims: &mut Vec<Claim>) {
    let book = book::Book::new(context);
    // Tables whose rows differ in their parts have judges of their own, which look at these.
    let of_parts: Vec<(usize, usize)> = book
        .grids
        .iter()
        .filter(|g| !context.grids.iter().any(|o| o.table == g.table))
        .map(|g| context.document.tables[g.table].span)
        .map(|span| (context.source.place(span.start).0, context.source.place(span.end).0))
        .collect();
    let by_parts = |c: &Claim| {
        c.inputs
            .iter()
            .filter_map(|i| i.place)
            .any(|(line, _)| of_parts.iter().any(|(a, b)| (*a..=*b).contains(&line)))
    };
    let all = decide::judge(&book);
    let compared: Vec<(usize, usize)> = all
        .iter()
        .filter(|j| j.compares || j.claimed.is_some())
        .map(|j| (j.sentence, j.span.start))
        .collect();
    for judged in all {
        let tokens = &context.reading.tokens[judged.sentence];
        let (from, to) = (tokens[judged.own.start].span.start, tokens[judged.own.end - 1].span.end);
        let decided =
            |c: &Claim| !matches!(c.verdict, ClaimVerdict::Unsupported | ClaimVerdict::Ambiguous);
        let inside = |c: &Claim| c.span.start <= from && to <= c.span.end + 1;
        let same = |c: &Claim| {
            inside(c)
                && (c.claimed == judged.claimed || c.claimed.is_none() && judged.claimed.is_none())
        };
        for c in claims.iter_mut().filter(|c| same(c) && decided(c)) {
            let shared = compared
                .iter()
                .filter(|(s, at)| *s == judged.sentence && (c.span.start..c.span.end).contains(at))
                .count()
                > 1;
            if judged.compares
                && shared
                && judged.span.start > c.span.start
                && judged.span.end <= c.span.end
            {
                let own = context.claim_at(c.kind, judged.span, "");
                (c.span, c.quote, c.line, c.column) = (own.span, own.quote, own.line, own.column);
            }
            let agree = judged.inputs.iter().all(|v| c.inputs.iter().any(|i| i.value == *v));
            let believed = match c.verdict {
                // Of what has no reading that it would disagree with nothing is known here.
                ClaimVerdict::Wrong if judged.against.is_empty() => {
                    judged.holds < decide::KEEP_OTHER
                }
                ClaimVerdict::Wrong => {
                    let mut against = judged.against.iter();
                    let same = against.all(|v| c.inputs.iter().any(|i| i.value == *v));
                    same && judged.wrong >= decide::KEEP_WRONG
                }
                _ if agree => judged.holds >= decide::KEEP,
                _ => judged.holds >= decide::KEEP_OTHER,
            };
            let own = c.verdict == ClaimVerdict::Wrong && c.kind != ClaimKind::Conversion
                || matches!(
                    c.kind,
                    ClaimKind::Percent
                        | ClaimKind::Times
                        | ClaimKind::Difference
                        | ClaimKind::Restatement
                        | ClaimKind::Rank
                );
            let parts = by_parts(c) && c.verdict != ClaimVerdict::Wrong;
            let ranks = judged.kind == ClaimKind::Rank && !judged.compares;
            if !believed && own && (!parts || judged.holds < decide::KEEP_PARTS && !ranks) {
                c.verdict = ClaimVerdict::Ambiguous;
                c.reason = format!("{}, but what it is about is not certain", c.reason);
            }
        }
        let Some(new) = judged.claim else {
            let overlaps =
                |c: &Claim| c.span.start < judged.span.end && judged.span.start < c.span.end;
            let known = |c: &Claim| match judged.claimed {
                Some(_) => {
                    overlaps(c)
                        && (c.claimed == judged.claimed
                            || inside(c) && decided(c) && c.claimed.is_none())
                }
                None => overlaps(c) && c.claimed.is_none(),
            };
            if judged.compares && !claims.iter().any(known) {
                let mut open =
                    context.claim_at(judged.kind, judged.span, "what it compares is not certain");
                open.claimed = judged.claimed;
                claims.push(open);
            }
            continue;
        };
        let loose = |c: &Claim| {
            inside(c) && (c.claimed == new.claimed || c.claimed.is_none() || new.claimed.is_none())
        };
        if claims.iter().any(|c| loose(c) && decided(c) && c.claimed == new.claimed) {
            continue;
        }
        claims.retain(|c| !loose(c) || decided(c));
        claims.push(new);
    }
}
