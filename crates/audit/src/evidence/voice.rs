//! Whose words a sentence is, and whether it states what was measured: conditions, hopes and what
//! others claim are no statements of the text, so they are never wrong.

use crate::read::token::Token;

/// Words that make a condition, a hope or a guess of what follows.
const OPEN: [&str; 34] = [
    "if",
    "would",
    "could",
    "should",
    "might",
    "may",
    "unless",
    "suppose",
    "supposing",
    "assuming",
    "assume",
    "expect",
    "expects",
    "expected",
    "hope",
    "hopes",
    "plan",
    "planned",
    "goal",
    "target",
    "aim",
    "aims",
    "imagine",
    "theoretical",
    "theoretically",
    "hypothetical",
    "estimate",
    "estimated",
    "estimates",
    "predicted",
    "predicts",
    "projected",
    "can",
    "will",
];

/// Verbs by which others speak.
const SAYS: [&str; 21] = [
    "claims",
    "rates",
    "claim",
    "claimed",
    "says",
    "said",
    "reports",
    "reported",
    "report",
    "advertises",
    "advertised",
    "promises",
    "promised",
    "states",
    "announced",
    "announces",
    "argues",
    "believe",
    "believes",
    "allegedly",
    "supposedly",
];

/// Words that set another condition than that of the measurement.
const LIMITS: [&str; 10] = [
    "limited",
    "capped",
    "restricted",
    "throttled",
    "constrained",
    "held",
    "locked",
    "underclocked",
    "overclocked",
    "undervolted",
];

/// Why a sentence states nothing that could be held against its numbers, if so.
pub(crate) fn open(text_before: &str, tokens: &[Token], at: usize) -> Option<&'static str> {
    let lower = |i: usize| tokens[i].lower.as_str();
    if text_before.trim_start().starts_with('>') {
        return Some("the words are quoted from somebody else");
    }
    // Of a condition all that follows it in the sentence depends; of "would" its own clause.
    for i in 0..tokens.len() {
        let word = lower(i);
        // "if you prefer" is no condition.
        let idiom = tokens.get(i + 1).is_some_and(|t| t.lower == "you")
            && tokens
                .get(i + 2)
                .is_some_and(|t| matches!(t.lower.as_str(), "prefer" | "like" | "will"));
        if word == "if" && !idiom
            || word == "suppose"
            || word == "assuming"
            || word == "supposing"
            || word == "unless"
        {
            return Some("it holds under a condition only");
        }
        let near = i < at && at - i < 14 || i > at && i - at < 4;
        if near && OPEN.contains(&word) && !separated(tokens, i, at) {
            if word == "may" && tokens[i].capital || matches!(word, "can" | "will") && i > at {
                continue;
            }
            return Some("it is what could be, not what was measured");
        }
        if SAYS.contains(&word) && i < at && !separated(tokens, i, at) {
            let own = i > 0 && matches!(lower(i - 1), "we" | "i");
            let noun =
                i > 0 && matches!(lower(i - 1), "our" | "this" | "the" | "a") && word == "report";
            if !own && !noun {
                return Some("it is what somebody else says");
            }
        }
        if LIMITS.contains(&word)
            && i + 12 > at
            && (tokens.get(i + 1).is_some_and(|t| matches!(t.lower.as_str(), "to" | "at" | "by")))
        {
            return Some("it is stated of another condition than the printed results");
        }
        if word == "according" && tokens.get(i + 1).is_some_and(|t| t.lower == "to") {
            let own = tokens.get(i + 2).is_some_and(|t| matches!(t.lower.as_str(), "our" | "my"));
            let table = tokens[i + 2..]
                .iter()
                .take(3)
                .any(|t| matches!(t.lower.as_str(), "table" | "measurements" | "results"));
            if !own && !table {
                return Some("it is what somebody else says");
            }
        }
    }
    None
}

/// Whether a full stop of a clause stands between two tokens.
fn separated(tokens: &[Token], a: usize, b: usize) -> bool {
    tokens[a.min(b)..a.max(b)]
        .iter()
        .any(|t| t.is_mark(';') || t.is_mark(':') || t.lower == "but" || t.lower == "whereas")
}
