//! Two values in one breath, one in the place of the other: "from 3 s to 2 s", "3 s instead of 2 s", "3 s, down from 4".

use super::say::{Say, What};
use super::way::{back, before, ends, lower};
use crate::detect::pointing::Way;
use crate::evidence::amount::{Amount, Dimension};
use crate::read::token::Token;

/// Finds the values of a sentence that stand for each other, and adds what they say together.
pub(super) fn join(tokens: &[Token], found: &mut Vec<Say>) {
    let mut pairs = Vec::new();
    for k in 1..found.len() {
        // "from 34 ms on one node to 45 ms on four": the count between them says where.
        let beyond = k.checked_sub(2).filter(|_| is_condition(tokens, &found[k - 1]));
        let made = [Some(k - 1), beyond]
            .into_iter()
            .flatten()
            .find_map(|first| Some((first, two(tokens, &found[first], &found[k])?)));
        let Some((first, two)) = made else { continue };
        // "is 6% of the mean against 2%": each may be a comparison, too.
        let compares = [first, k].iter().any(|k| found[*k].way.is_some());
        if let What::Two(x, y) = two.what
            && !compares
        {
            (found[first].what, found[k].what) = (What::Value(x), What::Value(y));
        }
        pairs.push(two);
    }
    found.extend(pairs);
}

/// Whether a value says where or with what another one was measured: "on one node", "at 4 threads".
fn is_condition(tokens: &[Token], say: &Say) -> bool {
    let counts = matches!(say.what, What::Value(v) if matches!(v.dimension(), Dimension::Plain | Dimension::Count));
    counts
        && matches!(
            back(tokens, say.own.start, 1),
            "on" | "at" | "with" | "for" | "under" | "using"
        )
}

/// Two values that stand for each other. A unit may stand at one of them alone: "from 3 minutes to 4.5".
fn two(tokens: &[Token], a: &Say, b: &Say) -> Option<Say> {
    let (x, y) = (stated(a)?, stated(b)?);
    if b.own.start < a.own.end || b.own.start - a.own.end > 7 {
        return None;
    }
    // Two percentages may be two comparisons: "is 5% of A, 3% of B".
    let percent = [a, b].iter().any(|s| s.what == What::Percent);
    let joined = if percent { replaced(tokens, a, b) } else { contrasted(tokens, a, b) };
    // A noun behind a number is its own unit.
    let bare = |s: &Say, v: Amount| {
        let next = lower(tokens, s.own.end);
        v.dimension() == Dimension::Plain
            && (!tokens.get(s.own.end).is_some_and(Token::is_word)
                || FUNCTION.contains(&next)
                || s.own.end == b.own.start)
    };
    let (x, y) = match (bare(a, x), bare(b, y)) {
        (true, false) if y.dimension() != Dimension::Count => (x.of(y.measure), y),
        (false, true) if x.dimension() != Dimension::Count => (x, y.of(x.measure)),
        _ => (x, y),
    };
    let fits = x.dimension().fits(y.dimension());
    // "rose from 3 to 2" contradicts itself.
    let from = back(tokens, a.own.start, 1) == "from" && back(tokens, b.own.start, 1) == "to";
    let way = before(tokens, a.own.start)
        .filter(|(_, j)| !matches!(lower(tokens, *j), "more" | "less"))
        .map(|(w, _)| w)
        .filter(|w| from && matches!(w, Way::More | Way::Less));
    (joined && fits).then(|| Say {
        way,
        own: a.own.start..b.own.end,
        what: What::Two(x, y),
        clause: a.clause.start..b.clause.end,
        than: 0..0,
        ..a.clone()
    })
}

/// Words behind a number that are no noun of it.
const FUNCTION: [&str; 30] = [
    "to", "instead", "against", "versus", "vs", "rather", "not", "in", "on", "at", "for", "with",
    "under", "and", "or", "then", "now", "before", "after", "down", "up", "compared", "where",
    "while", "of", "it", "as", "per", "is", "was",
];

/// Whether the words around two values set one against the other.
fn contrasted(tokens: &[Token], a: &Say, b: &Say) -> bool {
    if replaced(tokens, a, b) {
        return true;
    }
    let all = between(tokens, a, b);
    // "12 allocations instead of 1031": up to two nouns of the first.
    let noun = |i: &usize| {
        let t = &tokens[a.own.end + i];
        t.is_word() && !FUNCTION.contains(&t.lower.as_str())
    };
    let nouns = (0..all.len().min(2)).take_while(noun).count();
    let joined = match &all[nouns..] {
        ["down" | "up", "to"] | ["where", "it", "was"] => true,
        [.., "to"] if back(tokens, a.own.start, 1) == "from" => all.len() < 5,
        ["to" | "->" | "→"] | ["before", "and"] => nouns == 0,
        ["and"] => back(tokens, a.own.start, 1) == "between",
        _ => false,
    };
    // "used to need 52 minutes and now needs 19", "0.71 cores then, 0.42 now"
    let earlier = (1..5).any(|by| {
        matches!(
            back(tokens, a.own.start, by),
            "was" | "were" | "had" | "used" | "took" | "needed" | "did"
        )
    }) || all
        .iter()
        .take(3)
        .any(|w| matches!(*w, "then" | "before" | "earlier" | "previously"));
    let now = |w: &str| matches!(w, "now" | "today");
    let later =
        all.iter().any(|w| now(w)) || (b.own.end..b.own.end + 3).any(|i| now(lower(tokens, i)));
    // "takes 9 ms now and 12 before"
    let formerly = (b.own.end..b.own.end + 2).any(|i| {
        matches!(lower(tokens, i), "before" | "earlier" | "previously" | "then" | "formerly")
    });
    joined || earlier && later || formerly && all.iter().any(|w| now(w))
}

/// The words between two values, without the signs of money.
fn between<'a>(tokens: &'a [Token], a: &Say, b: &Say) -> Vec<&'a str> {
    (a.own.end..b.own.start)
        .filter(|i| !tokens[*i].is_currency())
        .map(|i| lower(tokens, i))
        .collect()
}

/// Whether the words between two values put the first in the place of the second, whatever of its own the first has
/// behind it: "96 B per op, down from 240 B", "44% of the time instead of 71%".
fn replaced(tokens: &[Token], a: &Say, b: &Say) -> bool {
    let all = between(tokens, a, b);
    let joins = match all.as_slice() {
        [.., "instead" | "down" | "up", "from" | "of"]
        | [.., "rather" | "not", "than"]
        | [.., "compared", "to" | "with"]
        | [.., "as", "against"] => 2,
        [.., "in", "place", "of"] => 3,
        [.., "against" | "versus" | "vs"] => 1,
        _ => return false,
    };
    let own = &all[..all.len() - joins];
    let own = own.strip_suffix(&[","]).unwrap_or(own);
    own.len() < 5
        && !own.iter().any(|w| {
            matches!(
                *w,
                "," | "and"
                    | "or"
                    | "is"
                    | "was"
                    | "are"
                    | "were"
                    | "takes"
                    | "took"
                    | "than"
                    | "more"
                    | "less"
            )
        })
        && !tokens[a.own.end..b.own.start].iter().any(|t| ends(t) || t.number().is_some())
}

/// The amount that one of two values states: a share is one, too.
fn stated(say: &Say) -> Option<Amount> {
    let of = say.what == What::Percent && say.way == Some(Way::Of);
    if of { Say { way: None, ..say.clone() }.stated() } else { say.stated() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::source::Span;
    use crate::read::token::tokens;

    fn pairs(text: &str) -> Vec<(f64, f64)> {
        let tokens = tokens(text, Span::new(0, text.len()));
        let says = super::super::hear::all(text, &tokens, &std::collections::BTreeSet::new());
        let two = |s: &Say| {
            if let What::Two(x, y) = s.what { Some((x.printed, y.printed)) } else { None }
        };
        says.iter().filter_map(two).collect()
    }

    #[test]
    fn values_in_one_breath_are_a_pair() {
        for (text, pair) in [
            ("Response time goes from 34 ms on one node to 45 ms on four.", (34.0, 45.0)),
            ("It went from 18 Mops/s at 4 threads to 24 Mops/s at 32.", (18.0, 24.0)),
            ("Small frames drop from 5 allocations to 2.", (5.0, 2.0)),
            ("The disk is 97% busy against 68%.", (97.0, 68.0)),
            ("User time is 71% instead of 63%.", (71.0, 63.0)),
            ("That is $0.62 instead of $0.88 per tpmC.", (0.62, 0.88)),
            ("Small messages take 96 B per op, down from 240 B.", (96.0, 240.0)),
            ("Rust sources take 9.14 ms now and 12.74 before.", (9.14, 12.74)),
        ] {
            assert_eq!(pairs(text), [pair], "{text}");
        }
    }

    #[test]
    fn values_of_two_statements_are_none() {
        for text in [
            "The disk takes 97 W and the fan 68 W.",
            "It serves 97 req/s at 12 ms.",
            "A is 5% of the total, B 3% of it.",
        ] {
            assert_eq!(pairs(text), [], "{text}");
        }
    }
}
