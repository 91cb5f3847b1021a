//! Puts what was decided of something said into a claim, with its values and its reason.

use super::book::{Book, Place};
use super::choice::{Choice, values};
use super::fit::fit;
use super::reading::Reading;
use super::say::{Say, What};
use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict, Input};
use crate::evidence::voice;
use crate::judge::reading::{Computed, figure};
use crate::read::source::Span;

/// What is ranked among more names the extreme alone.
const MAX_RIVALS: usize = 24;

/// The number that something said states.
pub(super) fn claimed(say: &Say) -> Option<f64> {
    (!say.what.is_unnumbered()).then_some(say.value)
}

pub(super) fn kind(what: What) -> ClaimKind {
    match what {
        What::Percent => ClaimKind::Percent,
        What::Times | What::Orders => ClaimKind::Times,
        What::Delta(_) => ClaimKind::Difference,
        What::Value(_) | What::Two(..) => ClaimKind::Restatement,
        What::Most(_) | What::Beats | What::Same => ClaimKind::Rank,
    }
}

fn input(book: &Book<'_>, place: Place, value: f64) -> Option<Input> {
    let context = book.context;
    match place {
        Place::Cell { grid, at } => {
            let table = book.table(grid);
            let grid = &book.grids[grid];
            let (row, column) =
                (&grid.rows.names[at.row].text, &grid.columns.names[at.column].text);
            let name = match (row.is_empty(), column.is_empty()) {
                (false, false) => format!("{row} ({column})"),
                (true, _) => column.clone(),
                _ => row.clone(),
            };
            let span = table.rows.get(at.row)?.cells.get(at.column)?.span;
            Some(context.input_at(&name, value, span))
        }
        Place::Prose { sentence, at } => {
            let span = context.reading.tokens[sentence].get(at)?.span;
            Some(context.input_at("in the text", value, span))
        }
    }
}

pub(super) fn claim(
    book: &Book<'_>,
    choice: &Choice,
    say: &Say,
    r: &Reading,
    verdict: ClaimVerdict,
) -> Claim {
    let context = book.context;
    let tokens = &context.reading.tokens[choice.sentence];
    let (from, to) = (say.from.min(say.own.start), say.clause.end.max(say.own.end));
    let span = Span::new(tokens[from].span.start, tokens[to - 1].span.end);
    let mut claim = context.claim_at(kind(say.what), span, "");
    let readings: Vec<_> = fit(say, r).0.iter().map(Computed::told).collect();
    claim.claimed = claimed(say);
    claim.inputs =
        values(r).into_iter().zip(&r.places).filter_map(|(v, p)| input(book, *p, v)).collect();
    if let (ClaimVerdict::Wrong, What::Most(most), Some(among)) = (verdict, say.what, &r.among) {
        let least = most.is_greatest(r.better) == Some(false);
        let (amount, place) = if least { among.least() } else { among.greatest() };
        claim.inputs.extend(input(book, place, amount.printed));
    }
    let names: Vec<&str> = claim.inputs.iter().map(|i| i.name.as_str()).collect();
    claim.reason = match readings.first() {
        Some(best) => format!("{} ({})", best.formula, best.name),
        None if r.derived.is_some() => {
            let values: Vec<String> = values(r).into_iter().map(figure).collect();
            let made = match r.sign {
                Some(sign) => format!("{} = ", values.join(&format!(" {sign} "))),
                None => String::new(),
            };
            let mut of = names.clone();
            of.dedup();
            format!("{made}{} of {}", figure(r.a.printed), of.join(", "))
        }
        None => {
            let values: Vec<String> = claim.inputs.iter().map(|i| figure(i.value)).collect();
            let has = if names.len() > 1 { "have" } else { "has" };
            format!("{} {has} {}", names.join(" and "), values.join(" and "))
        }
    };
    // A rank rests on all that it is among.
    if let Some(among) = r.among.as_ref().filter(|a| a.all.len() <= MAX_RIVALS) {
        for (amount, place) in among.all.iter().filter(|(_, p)| !r.places.contains(p)) {
            let input = input(book, *place, amount.printed);
            claim.inputs.extend(input.filter(|i| !claim.inputs.iter().any(|o| o.place == i.place)));
        }
    }
    claim.computed = match readings.first() {
        Some(best) => Some(best.value).filter(|v| v.is_finite()),
        None if r.b.is_none() => Some(r.a.printed),
        None => None,
    };
    claim.verdict = match (verdict, readings.first().map(|x| x.verdict)) {
        (ClaimVerdict::Holds, Some(ClaimVerdict::OffByRounding)) => ClaimVerdict::OffByRounding,
        (v, _) => v,
    };
    claim.readings = readings;
    if let Some(why) = open(context, choice.sentence, say.own.start) {
        claim.verdict = ClaimVerdict::Ambiguous;
        claim.reason = format!("{why}; {}", claim.reason);
    }
    claim
}

/// Why words at a token state nothing of the results, if so.
pub(crate) fn open(context: &Context<'_>, sentence: usize, at: usize) -> Option<&'static str> {
    let tokens = &context.reading.tokens[sentence];
    let start = tokens[0].span.start;
    let line = context.document.text[..start].rfind('\n').map_or(0, |i| i + 1);
    voice::open(&context.document.text[line..start], tokens, at)
}
