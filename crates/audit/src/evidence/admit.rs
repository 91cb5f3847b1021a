//! What any judge says is kept only if its evidence shares subject, metric and unit with the claim,
//! and if the sentence states it itself.

use super::voice;
use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::detect::mention;
use crate::detect::trigger::bound;
use crate::judge::reading::Bound;

/// Takes back a verdict without such evidence.
pub(crate) fn admit(context: &Context<'_>, sentence: usize, claim: &mut Claim) {
    if matches!(claim.verdict, ClaimVerdict::Unsupported | ClaimVerdict::Ambiguous) {
        return;
    }
    let tokens = &context.reading.tokens[sentence];
    let start = context.document.sentences[sentence].span.start;
    let text = context.document.text;
    let line = &text[text[..start].rfind('\n').map_or(0, |at| at + 1)..start];
    let at = tokens.iter().position(|t| t.span.start >= claim.span.start).unwrap_or(0);
    let number = (at..tokens.len()).find(|i| tokens[*i].quantity().is_some()).unwrap_or(at);
    if let Some(why) = voice::open(line, tokens, number) {
        claim.verdict = ClaimVerdict::Ambiguous;
        claim.reason = format!("{why}; {}", claim.reason);
        return;
    }
    // That some value lies beyond a bound is no evidence for who is spoken of.
    let bounded = matches!(bound(tokens, number), Bound::AtLeast | Bound::AtMost);
    if claim.kind == ClaimKind::Measurement && claim.verdict == ClaimVerdict::Holds && bounded {
        claim.verdict = ClaimVerdict::Unsupported;
        claim.computed = None;
        claim.inputs.clear();
        claim.reason = "which value the bound is of is not certain".into();
        return;
    }
    let compares = matches!(
        claim.kind,
        ClaimKind::Percent
            | ClaimKind::Times
            | ClaimKind::PerDenominator
            | ClaimKind::Difference
            | ClaimKind::Rank
            | ClaimKind::Measurement
            | ClaimKind::Count
            | ClaimKind::Mean
            | ClaimKind::Sum
    );
    // What names rows by the words of their table, and finds no evidence here, proves nothing: neither
    // in such a table nor from values of the sentence that no word links.
    let in_grid = |line: usize| {
        context.grids.iter().any(|g| {
            let span = context.document.tables[g.table].span;
            (context.source.place(span.start).0..=context.source.place(span.end).0).contains(&line)
        })
    };
    let places = || claim.inputs.iter().filter_map(|i| i.place).map(|(line, _)| line);
    let beside = places().all(|line| line == claim.line) && !claim.inputs.is_empty();
    if claim.verdict == ClaimVerdict::Wrong
        && compares
        && claim.kind != ClaimKind::Measurement
        && (beside || places().any(in_grid))
    {
        claim.verdict = ClaimVerdict::Ambiguous;
        claim.reason = format!("{}, but what it compares is not certain", claim.reason);
        return;
    }
    // Bytes of an operation are computed from two columns; else such evidence supports nothing either.
    let computed = claim.kind == ClaimKind::Measurement
        && (claim.inputs.len() > 1 || claim.verdict == ClaimVerdict::Wrong);
    let summed = matches!(claim.kind, ClaimKind::Mean | ClaimKind::Sum | ClaimKind::Count);
    if compares && !summed && !computed && !beside && places().any(in_grid) {
        claim.verdict = ClaimVerdict::Ambiguous;
        claim.reason = format!("{}, but what it is about is not certain", claim.reason);
        return;
    }
    // Values of the sentence itself, and those beside it, are its own.
    let own = claim
        .inputs
        .iter()
        .all(|i| i.place.is_some_and(|(line, _)| line.abs_diff(claim.line) <= 2));
    if !compares || own && !claim.inputs.is_empty() {
        return;
    }
    let named = mention::read(tokens, &context.quantities.systems);
    let subject = named.models.iter().next().is_some()
        || claim.inputs.iter().any(|input| {
            // `iostat` writes reads and writes with one letter.
            let operation = |letter: &str, stem: &str| {
                let abbreviated =
                    input.name.split(|c: char| !(c.is_alphanumeric() || c == '/')).any(|w| {
                        w.strip_suffix("/s")
                            .is_some_and(|w| w == letter || w == format!("k{letter}"))
                    });
                abbreviated && tokens.iter().any(|t| t.lower.starts_with(stem))
            };
            if operation("r", "read") || operation("w", "writ") {
                return true;
            }
            let words = super::name::words(&input.name);
            tokens.iter().filter(|t| t.is_word()).any(|t| {
                let own = super::name::words(&t.lower);
                own.iter().any(|w| w.len() > 2 && !super::name::is_plain(w) && words.contains(w))
            })
        });
    // Values of two units are not compared.
    let unit = |name: &str| {
        let inside = name.rsplit_once('(')?.1.trim_end_matches(')');
        super::amount::of_header(inside).map(|m| m.dimension)
    };
    let mut units = claim.inputs.iter().filter_map(|i| unit(&i.name));
    let first = units.next();
    let mixed = first.is_some_and(|f| units.any(|u| u != f));
    if !subject || mixed {
        claim.verdict = ClaimVerdict::Unsupported;
        claim.computed = None;
        claim.inputs.clear();
        claim.readings.clear();
        claim.reason = "no printed result shares its subject, metric and unit".into();
    }
}
