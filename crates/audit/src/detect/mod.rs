//! Finds what is claimed: numbers and words in a sentence that compare, count, convert or rank.

pub(crate) mod mention;
pub(crate) mod pointing;
pub(crate) mod processor;
pub(crate) mod role;
pub(crate) mod trigger;
pub(crate) mod vocabulary;

use crate::claim::ClaimKind;
use crate::detect::pointing::compares;
use crate::detect::trigger::{Trigger, bound, numeric};
use crate::detect::vocabulary::{QUALITATIVE, RANK};
use crate::judge::reading::Bound;
use crate::read::document::{BlockKind, Document};
use crate::read::source::Span;
use crate::read::token::{Token, tokens};
use crate::read::unit::Unit;

/// A claim that was found, not yet judged.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub kind: ClaimKind,
    /// The clause that says it.
    pub span: Span,
    /// Its sentence, by place in [`Document::sentences`].
    pub sentence: usize,
    /// The token (of the sentence) that gave it away.
    pub at: usize,
    /// Tokens of the clause.
    pub clause: std::ops::Range<usize>,
    /// The claimed value with its step.
    pub value: Option<(f64, f64)>,
    /// The other end of a range ("4% to 13%").
    pub to: Option<(f64, f64)>,
    pub bound: Bound,
}

/// The sentences' tokens and the claims in them.
pub(crate) struct Reading {
    pub tokens: Vec<Vec<Token>>,
    pub found: Vec<Found>,
}

/// Longer sentences, in tokens, are no sentences.
pub(crate) const MAX_TOKENS: usize = 500;

/// Finds the claims in the sentences of a document.
pub(crate) fn detect(document: &Document<'_>) -> Reading {
    let mut all = Vec::with_capacity(document.sentences.len());
    let mut found = Vec::new();
    for (index, sentence) in document.sentences.iter().enumerate() {
        let read = tokens(document.text, sentence.span);
        if read.len() <= MAX_TOKENS {
            let block = &document.blocks[sentence.block];
            in_sentence(index, &read, block.kind, &mut found);
        }
        all.push(read);
    }
    Reading { tokens: all, found }
}

fn in_sentence(sentence: usize, tokens: &[Token], block: BlockKind, found: &mut Vec<Found>) {
    let mut triggers = Vec::new();
    let mut skip = 0;
    for at in 0..tokens.len() {
        if at < skip {
            continue;
        }
        if let Some((trigger, used)) = numeric(tokens, at) {
            skip = at + used;
            triggers.push(trigger);
        }
    }
    if let Some(at) = differences(tokens) {
        triggers.push(at);
    }
    if let Some(rank) = rank(tokens) {
        // "beats by 38%" is one claim, not two.
        let same = triggers.iter().any(|t| {
            matches!(t.kind, ClaimKind::Percent | ClaimKind::Times)
                && !separate(tokens, rank.at, t.at)
        });
        let part = tokens[rank.at].lower == "than"
            && (!triggers.is_empty() || vocabulary::share(tokens).is_some());
        if !same && !part {
            triggers.push(rank);
        }
    }
    triggers.sort_by_key(|t| t.at);
    let clauses = clauses(tokens, &triggers);
    for (trigger, clause) in triggers.iter().zip(clauses) {
        found.push(of_trigger(sentence, tokens, *trigger, clause));
    }
    if triggers.is_empty()
        && block != BlockKind::Heading
        && let Some(at) = qualitative(tokens)
    {
        let trigger = Trigger {
            at,
            kind: ClaimKind::Qualitative,
            value: None,
            to: None,
            bound: Bound::Exact,
        };
        found.push(of_trigger(sentence, tokens, trigger, 0..tokens.len()));
    }
}

fn of_trigger(
    sentence: usize,
    tokens: &[Token],
    t: Trigger,
    clause: std::ops::Range<usize>,
) -> Found {
    let span = Span::new(tokens[clause.start].span.start, tokens[clause.end - 1].span.end);
    Found {
        kind: t.kind,
        span,
        sentence,
        at: t.at,
        clause,
        value: t.value,
        to: t.to,
        bound: t.bound,
    }
}

/// Whether punctuation that ends a clause stands between two tokens.
fn separate(tokens: &[Token], a: usize, b: usize) -> bool {
    tokens[a.min(b)..a.max(b)].iter().any(|t| t.is_mark(',') || t.is_mark(';') || t.is_mark(':'))
}

/// The clause of each trigger: the sentence, cut between one trigger and the next.
fn clauses(tokens: &[Token], triggers: &[Trigger]) -> Vec<std::ops::Range<usize>> {
    let mut cuts = vec![0];
    for pair in triggers.windows(2) {
        let (a, b) = (pair[0].at + 1, pair[1].at.max(pair[0].at + 1));
        let boundary = (a..b).rev().find(|i| {
            let t = &tokens[*i];
            t.is_mark(',')
                || t.is_mark(';')
                || t.is_mark(':')
                || t.is_mark('(')
                || matches!(t.lower.as_str(), "and" | "but" | "while" | "whereas" | "or")
        });
        cuts.push(boundary.map_or(pair[1].at, |i| i + 1).min(pair[1].at).max(a.min(pair[1].at)));
    }
    cuts.push(tokens.len());
    cuts.windows(2).map(|w| w[0]..w[1].max(w[0] + 1)).collect()
}

/// "18 minutes less", "from 30 to 15 minutes".
fn differences(tokens: &[Token]) -> Option<Trigger> {
    for (at, token) in tokens.iter().enumerate() {
        let Some(n) = token.quantity() else { continue };
        let dimension = !matches!(
            n.unit,
            None | Some(
                Unit::Percent | Unit::Times | Unit::Count(_) | Unit::Frequency | Unit::RackUnits
            )
        );
        let from_to = at >= 1
            && tokens[at - 1].lower == "from"
            && tokens[at + 1..].iter().take(3).any(|t| t.lower == "to")
            && tokens[at + 1..].iter().take(4).any(|t| {
                t.quantity().is_some_and(|m| m.unit != Some(Unit::Percent) && m.value != n.value)
            });
        let verb = tokens[..at].iter().any(|t| compares(&t.lower) || t.lower.starts_with("scal"));
        let after = tokens.get(at + 1..).unwrap_or_default().iter().take(3);
        let comparative = dimension
            && after.clone().any(|t| {
                matches!(
                    t.lower.as_str(),
                    "less"
                        | "more"
                        | "faster"
                        | "slower"
                        | "fewer"
                        | "better"
                        | "shorter"
                        | "longer"
                )
            });
        if from_to
            && verb
            && !matches!(n.unit, Some(Unit::Count(_)))
            && !matches!(range_unit(tokens, at), Some(Unit::Count(_)))
            || comparative
        {
            return Some(Trigger {
                at,
                kind: ClaimKind::Difference,
                value: Some((n.value, n.step)),
                to: None,
                bound: bound(tokens, at),
            });
        }
    }
    None
}

/// The unit of the number that ends "from 2 to 4 chips".
fn range_unit(tokens: &[Token], at: usize) -> Option<Unit> {
    tokens[at + 1..].iter().take(4).find_map(|t| t.quantity().and_then(|n| n.unit.clone()))
}

/// A word of rank that ranks something.
fn rank(tokens: &[Token]) -> Option<Trigger> {
    let at = tokens.iter().enumerate().position(|(i, t)| {
        let lower = t.lower.as_str();
        let previous = i.checked_sub(1).map_or("", |p| tokens[p].lower.as_str());
        let next = tokens.get(i + 1).map_or("", |n| n.lower.as_str());
        RANK.contains(&lower)
            && !(lower == "best" && (next.starts_with("practice") || previous == "at"))
            && !(lower == "top" && (next == "of" || previous == "on"))
            && !(lower == "leading" && next == "to")
            || (lower == "ordered" && next == "by")
            || (lower == "most"
                && tokens.get(i + 2).is_some_and(|n| n.lower != "of")
                && next != "of"
                && previous == "the")
            || (lower == "than"
                && tokens[..i].iter().rev().take(3).any(|w| {
                    compares(&w.lower)
                        || w.lower == "recent"
                        || w.lower == "newer"
                        || w.lower == "older"
                })
                && tokens.get(i + 1).is_some_and(|n| n.quantity().is_none()))
    })?;
    let kind = if tokens[at].lower == "ordered" { ClaimKind::Order } else { ClaimKind::Rank };
    Some(Trigger { at, kind, value: None, to: None, bound: Bound::Exact })
}

fn qualitative(tokens: &[Token]) -> Option<usize> {
    if tokens.len() < 5 {
        return None;
    }
    let says = |w: &str| QUALITATIVE.contains(&w) || (w.len() > 4 && compares(w));
    let pointer = |i: usize| {
        tokens[i].lower == "more"
            && tokens.get(i + 1).is_some_and(|t| {
                matches!(t.lower.as_str(), "details" | "detail" | "information" | "info")
            })
    };
    (0..tokens.len()).find(|i| {
        let t = &tokens[*i];
        t.is_word() && (says(&t.lower) || t.lower == "less" || t.lower == "more") && !pointer(*i)
    })
}
