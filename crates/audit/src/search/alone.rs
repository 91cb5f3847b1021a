//! Words that say which way all of something goes: one alone ("the only latency that got worse"), or every one ("is
//! faster at every level").

use super::way::{back, ends, lower, way};
use crate::detect::pointing::Way;
use crate::read::token::Token;

/// "the only one that got worse", "the only figure to improve": which way, and where the words end.
pub(super) fn says(tokens: &[Token], i: usize) -> Option<(Way, usize)> {
    if lower(tokens, i) != "only" || !matches!(back(tokens, i, 1), "the" | "our" | "its") {
        return None;
    }
    let close = |from: usize, most: usize| {
        let stop = |t: &Token| ends(t) || t.is_mark(',') || t.number().is_some_and(|n| !n.spelled);
        let to = (from + most).min(tokens.len());
        (from..to).find(|j| stop(&tokens[*j])).unwrap_or(to)
    };
    let that = (i + 2..close(i + 1, 9))
        .find(|j| matches!(lower(tokens, *j), "that" | "which" | "to" | "where" | "getting"))?;
    let (at, found) = (that..close(that, 6)).find_map(|j| {
        let way = match lower(tokens, j) {
            "improve" | "improving" | "better" => Some(Way::Faster),
            "regress" | "worsened" | "worsens" | "deteriorated" | "suffered" => Some(Way::Slower),
            "over" | "up" | "down" | "above" | "below" | "many" | "much" | "long" | "high" => None,
            word => way(word),
        };
        Some((j, way?))
    })?;
    // "the only one that is faster than B" compares, "that gains 3%" has a number.
    let after = lower(tokens, at + 1);
    let number = tokens.get(at + 1).is_some_and(|t| t.number().is_some());
    (!matches!(after, "than" | "by") && !number).then_some((found, at + 1))
}

/// "is faster at every level", "falls in each of the workloads": a word that points, of all of something.
pub(super) fn each(tokens: &[Token], i: usize) -> bool {
    let preposition =
        matches!(lower(tokens, i + 1), "in" | "at" | "for" | "on" | "across" | "with");
    let all = lower(tokens, i + if preposition { 2 } else { 1 });
    (preposition && matches!(all, "every" | "each" | "all" | "both")) || all == "everywhere"
}
