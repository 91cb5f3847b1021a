//! Finds what a claim is about by weighing every reading that the text has evidence for.
//!
//! A claim is said ([`say`]); each pair of cells, each pair of amounts in the prose, each cell that it may be about is
//! a reading with features ([`model`]): where its names stand ([`words`]), whether its unit fits, which table it is of.
//! Weights that were learned from labelled texts turn these into a probability before the claim's number is looked
//! at; then it is looked at which readings agree with the number.

mod alone;
mod among;
mod beside;
pub(crate) mod book;
pub(crate) mod called;
mod cells;
mod change;
pub(crate) mod choice;
pub(crate) mod decide;
mod derived;
mod doubt;
mod every;
pub(crate) mod facts;
pub(crate) mod fit;
mod fraction;
mod hear;
mod labels;
pub(crate) mod model;
mod most;
mod number;
mod order;
pub(crate) mod phrase;
mod prose;
mod quotient;
mod rank;
pub(crate) mod reading;
mod readings;
pub(crate) mod say;
mod scene;
mod spoken;
mod standing;
mod stands;
mod sums;
pub(crate) mod trust;
mod two;
pub(crate) mod verdict;
mod way;
pub(crate) mod words;

use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::read::source::Span;

/// Puts what weighing decides in the place of claims without a verdict, and takes back verdicts that it does not
/// believe.
pub(crate) fn add(context: &Context<'_>, claims: &mut Vec<Claim>) {
    let book = book::Book::new(context);
    let parts = lines_of_parts(&book);
    let all = decide::judge(&book, claims);
    for c in claims.iter_mut().filter(|c| decided(c)) {
        if c.verdict == ClaimVerdict::Wrong && has_number(context, &all, c) {
            take_back(c);
        }
        narrow(context, &all, c);
    }
    for judged in all {
        let inside = |c: &Claim| decide::is_inside(context, judged.sentence, &judged.own, c);
        let same = |c: &Claim| inside(c) && c.claimed == judged.claimed;
        // What is surer of other values stands in the place of what the judges of names found.
        if let Some(new) = judged.claim.as_ref().filter(|c| c.verdict != ClaimVerdict::Wrong) {
            let rests =
                |c: &Claim| judged.inputs.iter().all(|v| c.inputs.iter().any(|i| i.value == *v));
            claims.retain(|c| {
                !(same(c)
                    && c.kind == new.kind
                    && c.verdict != ClaimVerdict::Wrong
                    && decided(c)
                    && !rests(c))
            });
        }
        for c in claims.iter_mut().filter(|c| same(c) && decided(c)) {
            let by_parts = c.verdict != ClaimVerdict::Wrong && rests_on(c, &parts);
            if is_taken_back(&judged, c, by_parts) {
                take_back(c);
            }
        }
        let of_it = |c: &Claim| {
            inside(c)
                && (c.claimed == judged.claimed || c.claimed.is_none() || judged.claimed.is_none())
        };
        match &judged.claim {
            Some(new)
                if !claims.iter().any(|c| of_it(c) && decided(c) && c.claimed == new.claimed) =>
            {
                claims.retain(|c| !of_it(c) || decided(c));
                claims.push(new.clone());
            }
            None if judged.compares => {
                let known = |c: &Claim| {
                    let overlaps = c.span.start < judged.span.end && judged.span.start < c.span.end;
                    let whole = inside(c) && decided(c) && c.claimed.is_none();
                    overlaps && (c.claimed == judged.claimed || whole)
                };
                if !claims.iter().any(known) {
                    let why = "what it compares is not certain";
                    let mut open = context.claim_at(judged.kind, judged.span, why);
                    open.claimed = judged.claimed;
                    claims.push(open);
                }
            }
            _ => {}
        }
    }
}

fn take_back(c: &mut Claim) {
    c.verdict = ClaimVerdict::Ambiguous;
    c.reason = format!("{}, but what it is about is not certain", c.reason);
}

/// Whether what was taken for a rank is a comparison with a number, "takes 3.3 GB more than": that is the claim.
fn has_number(context: &Context<'_>, all: &[decide::Judged], c: &Claim) -> bool {
    let ranks = matches!(c.kind, ClaimKind::Rank | ClaimKind::Order) && c.claimed.is_none();
    let inside = within(context, all, c);
    ranks
        && inside.iter().any(|j| j.compares && j.claimed.is_some())
        && inside.iter().all(|j| j.claimed.is_some() || j.kind != ClaimKind::Rank)
}

fn decided(c: &Claim) -> bool {
    !matches!(c.verdict, ClaimVerdict::Unsupported | ClaimVerdict::Ambiguous)
}

/// The lines, first and last, of tables whose rows differ in their parts: these have judges of their own.
fn lines_of_parts(book: &book::Book<'_>) -> Vec<(usize, usize)> {
    let context = book.context;
    book.grids
        .iter()
        .filter(|g| !context.grids.iter().any(|o| o.table == g.table))
        .filter_map(|g| context.document.tables.get(g.table))
        .map(|t| t.span)
        .map(|span| (context.source.place(span.start).0, context.source.place(span.end).0))
        .collect()
}

/// Whether a claim has a value of these lines.
fn rests_on(c: &Claim, lines: &[(usize, usize)]) -> bool {
    let mut places = c.inputs.iter().filter_map(|i| i.place);
    places.any(|(line, _)| lines.iter().any(|(a, b)| (*a..=*b).contains(&line)))
}

/// What is said of numbers or compared within the words of a claim.
fn within<'a>(
    context: &Context<'_>,
    all: &'a [decide::Judged],
    c: &Claim,
) -> Vec<&'a decide::Judged> {
    let sentences = &context.document.sentences;
    let first = all.partition_point(|j| sentences[j.sentence].span.end <= c.span.start);
    all[first..]
        .iter()
        .take_while(|j| sentences[j.sentence].span.start < c.span.end)
        .filter(|j| j.compares || j.claimed.is_some())
        .filter(|j| c.span.start <= j.span.start && j.span.end <= c.span.end)
        .collect()
}

/// Leaves a claim in a sentence of several numbers the words of the clauses of its own.
fn narrow(context: &Context<'_>, all: &[decide::Judged], c: &mut Claim) {
    let inside = within(context, all, c);
    let own = |j: &&&decide::Judged| match c.claimed {
        Some(_) => j.claimed == c.claimed,
        None => j.claimed.is_some_and(|v| c.inputs.iter().any(|i| i.value == v)),
    };
    let spans: Vec<Span> = inside.iter().filter(own).map(|j| j.span).collect();
    let (from, to) = (spans.iter().map(|s| s.start).min(), spans.iter().map(|s| s.end).max());
    if let (Some(from), Some(to)) = (from, to)
        && inside.len() > 1
        && to - from < c.span.end - c.span.start
    {
        let own = context.claim_at(c.kind, Span::new(from, to), "");
        (c.span, c.quote, c.line, c.column) = (own.span, own.quote, own.line, own.column);
    }
}

/// Whether a verdict that the judges of names gave is not believed.
fn is_taken_back(judged: &decide::Judged, c: &Claim, by_parts: bool) -> bool {
    let has = |values: &[f64]| values.iter().all(|v| c.inputs.iter().any(|i| i.value == *v));
    let believed = match c.verdict {
        // "only able to read up to 0.1 MB/s" is of all values of a column, of which no reading is known here.
        ClaimVerdict::Wrong if judged.against.is_empty() => {
            c.kind == ClaimKind::Measurement && judged.is_bound
        }
        ClaimVerdict::Wrong => has(&judged.against) && judged.wrong >= decide::KEEP_WRONG,
        _ if has(&judged.inputs) => judged.holds >= decide::KEEP,
        _ => judged.holds >= decide::KEEP_OTHER,
    };
    let known_here = match c.kind {
        ClaimKind::Percent
        | ClaimKind::Times
        | ClaimKind::Difference
        | ClaimKind::Restatement
        | ClaimKind::Rank => true,
        kind => c.verdict == ClaimVerdict::Wrong && kind != ClaimKind::Conversion,
    };
    let beats = judged.kind == ClaimKind::Rank && !judged.compares;
    let unlikely = !by_parts || judged.holds < decide::KEEP_PARTS && !beats;
    !believed && known_here && unlikely
}
