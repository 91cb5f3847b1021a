//! Words that rank or compare without a number: "the slowest", "comes last", "beats", "is unchanged".

use crate::detect::pointing::{self, Way};
use crate::evidence::extreme::{Most, superlative};
use crate::read::token::Token;

use super::say::What;
use super::way::{back, lower};

/// "leads the Basalt X": one other, and not all.
fn beats_one(tokens: &[Token], i: usize) -> bool {
    let article = usize::from(matches!(lower(tokens, i + 1), "the" | "its" | "our"));
    tokens.get(i + 1 + article).is_some_and(|t| {
        t.is_word()
            && !matches!(
                t.lower.as_str(),
                "list" | "table" | "field" | "pack" | "chart" | "ranking" | "way" | "all"
            )
            && (t.capital || article == 1)
    })
}

/// "comes last", "is last", "puts Java last": no "last year".
fn is_last(tokens: &[Token], i: usize) -> bool {
    let places = (1..4).any(|by| {
        matches!(
            back(tokens, i, by),
            "comes" | "came" | "is" | "was" | "are" | "puts" | "finishes" | "finished" | "ends"
        )
    });
    let next = tokens.get(i + 1);
    let ends = next.is_none_or(|t| {
        !t.is_word() || matches!(t.lower.as_str(), "by" | "with" | "at" | "in" | "and" | "here")
    });
    places && ends && back(tokens, i, 1) != "the"
}

/// "is unchanged", "takes about the same time", "did not change".
fn is_same(tokens: &[Token], i: usize) -> bool {
    let not = (1..4).any(|by| matches!(back(tokens, i, by), "not" | "n't" | "didn't" | "doesn't"));
    match lower(tokens, i) {
        "unchanged" | "identical" => true,
        "change" | "changed" => not,
        "same" => {
            back(tokens, i, 1) == "the"
                && matches!(
                    back(tokens, i, 2),
                    "practically"
                        | "about"
                        | "roughly"
                        | "nearly"
                        | "almost"
                        | "much"
                        | "exactly"
                        | "is"
                        | "are"
                        | "was"
                        | "were"
                        | "takes"
                        | "take"
                        | "took"
                        | "needs"
                        | "stays"
                        | "stayed"
                        | "remains"
                        | "does"
                        | "gets"
                        | "at"
                )
        }
        _ => false,
    }
}

/// What a word asks for, if it is a superlative.
fn most(tokens: &[Token], i: usize) -> Option<Most> {
    let word = lower(tokens, i);
    let most = superlative(word).or(match word {
        "cheapest" | "lightest" | "leanest" | "tightest" | "fewest" | "quietest" | "coolest"
        | "thriftiest" => Some(Most::Least),
        "dearest" | "heaviest" | "priciest" | "costliest" | "loudest" | "hottest"
        | "thirstiest" | "hungriest" | "noisiest" | "busiest" | "greediest" => Some(Most::Greatest),
        "leads" | "tops" if beats_one(tokens, i) => None,
        "leads" | "wins" | "tops" => Some(Most::Best),
        "last" if is_last(tokens, i) => Some(Most::Worst),
        _ => None,
    })?;
    Some(match (word, lower(tokens, i + 1)) {
        ("most", "efficient") => Most::Best,
        ("least", "efficient") => Most::Worst,
        ("most", "frugal" | "economical" | "compact" | "modest" | "lightweight") => Most::Least,
        ("least", "frugal" | "economical" | "compact" | "modest") => Most::Greatest,
        _ => most,
    })
}

/// Whether a superlative ranks nothing of a table: "at most", "its slowest run", "second to last".
fn ranks_nothing(tokens: &[Token], i: usize) -> bool {
    let (word, next) = (lower(tokens, i), lower(tokens, i + 1));
    let at_most = matches!(word, "most" | "least" | "best" | "worst")
        && (matches!(back(tokens, i, 1), "at" | "of" | "by")
            || back(tokens, i, 2) == "at" && matches!(back(tokens, i, 1), "its" | "the" | "their"));
    // "its slowest run took 3 s": one of its own.
    let of_runs = matches!(next, "run" | "runs" | "iteration" | "sample" | "attempt");
    let of = matches!(word, "most" | "best")
        && matches!(next, "of" | "practice" | "practices" | "likely");
    // "the second highest", "second to last": another place.
    let other = matches!(back(tokens, i, 1), "second" | "third" | "next" | "fourth")
        || word == "last" && back(tokens, i, 1) == "to";
    at_most || of_runs || of || other
}

/// What a word ranks or compares without a number, and which way it points.
pub(super) fn rank(tokens: &[Token], i: usize) -> Option<(What, Option<Way>)> {
    if let Some(most) = most(tokens, i) {
        return (!ranks_nothing(tokens, i)).then_some((What::Most(most), None));
    }
    if is_same(tokens, i) {
        return Some((What::Same, None));
    }
    let word = lower(tokens, i);
    let beats = match word {
        "beats" | "outperforms" | "beat" | "outperformed" | "outruns" => Some(Way::Faster),
        "trails" => Some(Way::Slower),
        "leads" | "tops" if beats_one(tokens, i) => Some(Way::Faster),
        "ahead" if lower(tokens, i + 1) == "of" => Some(Way::Faster),
        "behind" if tokens.get(i + 1).is_some_and(Token::is_word) => Some(Way::Slower),
        _ if lower(tokens, i + 1) == "than" => pointing::way(word),
        _ => None,
    };
    beats.map(|way| (What::Beats, Some(way)))
}
