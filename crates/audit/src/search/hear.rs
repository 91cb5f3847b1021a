//! What a sentence says in numbers or in words that compare, each with the words of its own. Nothing is looked up here.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::detect::pointing::Way;
use crate::evidence::amount::Dimension;
use crate::evidence::name::words;
use crate::read::token::Token;

use super::number::at;
use super::say::{Say, What};
use super::two;
use super::way::{back, conjunction, ends, lower};

/// What is compared with stands behind these.
fn opens_baseline(tokens: &[Token], i: usize) -> bool {
    let word = lower(tokens, i);
    match word {
        "than" => tokens.get(i + 1).is_none_or(|t| t.quantity().is_none_or(|n| n.unit.is_none())),
        "over" | "vs" | "versus" | "against" | "compared" | "behind" | "below" | "above"
        | "relative" | "beats" | "outperforms" => true,
        "of" => {
            matches!(
                back(tokens, i, 1),
                "that"
                    | "those"
                    | "what"
                    | "ahead"
                    | "instead"
                    | "times"
                    | "half"
                    | "third"
                    | "quarter"
                    | "thirds"
            ) || i > 0
                && (tokens[i - 1].is_mark('%')
                    || tokens[i - 1]
                        .quantity()
                        .is_some_and(|n| n.unit == Some(crate::read::unit::Unit::Percent)))
        }
        "as" => (i.saturating_sub(4)..i).any(|j| lower(tokens, j) == "as"),
        "what" => matches!(back(tokens, i, 1), "of" | "times"),
        _ => false,
    }
}

/// All that a sentence says, in order.
pub(crate) fn all(text: &str, tokens: &[Token], named: &BTreeSet<&String>) -> Vec<Say> {
    let mut found: Vec<Say> = Vec::new();
    // The summary of hyperfine, "A ran", "3.5 ± 0.1 times faster than B", has a judge of its own.
    let ran = tokens.iter().take(40).any(|t| t.lower == "ran");
    if ran && tokens.windows(2).any(|t| t[0].is_mark('±') && t[1].number().is_some()) {
        return found;
    }
    let mut i = 0;
    while i < tokens.len() && found.len() < 24 {
        let is_name = |s: &Say| {
            let small = match s.what {
                What::Value(v) | What::Delta(v) => {
                    matches!(v.dimension(), Dimension::Plain | Dimension::Count)
                }
                // "Power at 100% fell"
                What::Percent => back(tokens, s.own.start, 1) == "at",
                _ => false,
            };
            small && words(&tokens[s.own.start].lower).iter().any(|w| named.contains(w))
        };
        match at(text, tokens, i).filter(|s| !is_name(s)) {
            Some(say) => {
                // A count before "third" belongs to it.
                if found.last().is_some_and(|l| l.own.end > say.own.start) {
                    found.pop();
                }
                i = say.own.end.max(i + 1);
                found.push(say);
            }
            None => i += 1,
        }
    }
    // A word that points beside a number is no claim of its own.
    let taken: Vec<usize> =
        found.iter().filter(|s| s.what != What::Beats).filter_map(|s| s.word).collect();
    let numbers: Vec<Range<usize>> = found
        .iter()
        .filter(|s| !s.what.is_unnumbered() && !matches!(s.what, What::Value(_) | What::Two(..)))
        .map(|s| s.own.clone())
        .collect();
    found.retain(|s| {
        s.what != What::Beats
            || !taken.contains(&s.own.start)
                && !numbers.iter().any(|n| {
                    let (a, b) = (n.start.min(s.own.start), n.end.max(s.own.end));
                    let apart = |t: &Token| t.is_mark(',') || ends(t) || conjunction(t);
                    b - a < 8 && !tokens[a..b].iter().any(apart)
                })
    });
    // "slower than B, by 6 s" is one claim.
    let pairs: Vec<usize> = found
        .iter()
        .filter(|s| s.what.is_pair() && s.what != What::Beats)
        .map(|s| s.own.start)
        .collect();
    found.retain(|s| {
        s.what != What::Beats
            || !pairs.iter().any(|p| {
                *p > s.own.end
                    && lower(tokens, p - 1) == "by"
                    && *p - s.own.end < 8
                    && !tokens[s.own.end..*p].iter().any(ends)
            })
    });
    // "p6 beats it by 31%, p8 by 300%": the same way again.
    for k in 1..found.len() {
        let (before, own) = (found[k - 1].clone(), &mut found[k]);
        let close = own.own.start - before.own.end.min(own.own.start) < 8;
        if own.way.is_none()
            && close
            && own.what == before.what
            && own.what.is_pair()
            && lower(tokens, own.own.start.saturating_sub(1)) != "or"
        {
            own.way = before.way;
        }
    }
    clauses(tokens, &mut found);
    two::join(tokens, &mut found);
    found
}

fn clauses(tokens: &[Token], says: &mut [Say]) {
    let owns: Vec<Range<usize>> = says.iter().map(|s| s.own.clone()).collect();
    let ranks: Vec<bool> = says.iter().map(|s| matches!(s.what, What::Most(_))).collect();
    let mut previous_clause: Option<(usize, Range<usize>)> = None;
    for (k, say) in says.iter_mut().enumerate() {
        let hard = |i: &usize| ends(&tokens[*i]) || conjunction(&tokens[*i]);
        let soft = |i: &usize| {
            hard(i)
                || tokens[*i].is_mark(',')
                || matches!(tokens[*i].lower.as_str(), "and" | "or" | "which")
        };
        let previous = (k > 0).then(|| owns[k - 1].end);
        let after_previous = previous.map_or(0, |p| {
            (p..say.own.start).rev().find(soft).map_or(p.min(say.own.start), |i| i + 1)
        });
        let start = (0..say.own.start).rev().find(hard).map_or(0, |i| i + 1).max(after_previous);
        let next = owns.get(k + 1).map_or(tokens.len(), |n| n.start);
        let before_next = if next < tokens.len() {
            (say.own.end..next).find(soft).unwrap_or(next)
        } else {
            tokens.len()
        };
        let end = (say.own.end..tokens.len())
            .find(hard)
            .unwrap_or(tokens.len())
            .min(before_next)
            .max(say.own.end);
        // ", 8% ahead of B": what it is about stands before the comma.
        // "comes second at 318"
        let ranked = k > 0 && ranks[k - 1] && matches!(say.what, What::Value(_));
        let bare = (start..say.own.start).all(|i| {
            !tokens[i].is_word()
                || ranked && matches!(tokens[i].lower.as_str(), "at" | "with")
                || matches!(
                    tokens[i].lower.as_str(),
                    "or" | "by"
                        | "about"
                        | "a"
                        | "an"
                        | "i.e"
                        | "only"
                        | "just"
                        | "roughly"
                        | "nearly"
                        | "almost"
                        | "around"
                        | "even"
                        | "more"
                        | "than"
                        | "over"
                        | "some"
                )
        });
        say.from = start;
        let and = start.checked_sub(1).is_some_and(|i| tokens[i].lower == "and");
        let inherited = previous_clause.clone().filter(|_| bare && !and);
        let start = inherited.as_ref().map_or(start, |(c, _)| *c);
        say.clause = start..end;
        let from = say
            .word
            .filter(|w| *w >= say.own.end)
            .unwrap_or(say.own.end.saturating_sub(1))
            .max(say.own.start);
        let open = (from..end).find(|i| opens_baseline(tokens, *i));
        // "93% of the performance of B", "half the time of B"
        let of = |i: &usize| tokens[*i].lower == "of";
        let open = if say.way == Some(Way::Of) || say.what == What::Times {
            (from..end.min(from + 12)).rev().find(of).or(open)
        } else {
            open
        };
        let close = |o: usize| (o + 1..end).find(|i| tokens[*i].is_mark(',')).unwrap_or(end);
        say.than = match open {
            Some(o) => o + 1..close(o),
            // "compared to X, it is 30% faster"
            None if inherited.as_ref().is_some_and(|(_, t)| !t.is_empty()) => {
                inherited.map_or(0..0, |(_, t)| t)
            }
            None => (start..say.own.start)
                .find(|i| {
                    matches!(
                        lower(tokens, *i),
                        "compared" | "against" | "versus" | "unlike" | "instead"
                    )
                })
                .map_or(0..0, |o| {
                    o + 1
                        ..(o + 1..say.own.start)
                            .find(|i| tokens[*i].is_mark(','))
                            .unwrap_or(say.own.start.min(o + 6))
                }),
        };
        previous_clause = Some((start, say.than.clone()));
    }
}
