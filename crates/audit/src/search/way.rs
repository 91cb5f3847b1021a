//! Which way words point: the ones behind a number and the ones before it.

use crate::detect::pointing::{self, Way};
use crate::read::token::Token;

pub(super) fn lower(tokens: &[Token], i: usize) -> &str {
    tokens.get(i).map_or("", |t| t.lower.as_str())
}

pub(super) fn back(tokens: &[Token], i: usize, by: usize) -> &str {
    i.checked_sub(by).map_or("", |p| lower(tokens, p))
}

/// Which way a word points, with verbs that point beside an amount only.
pub(super) fn way(word: &str) -> Option<Way> {
    Some(match word {
        "off" | "minus" | "removes" | "removed" | "saving" | "economy" | "shaves" | "shaved"
        | "trims" | "spares" | "spared" | "save" | "drop" | "declines" | "shed" | "sheds"
        | "slimmer" | "frugal" | "lose" | "losing" | "loses" | "lost" | "savings"
        | "eliminates" | "shortened" | "shortens" | "earlier" | "halve" | "shaving" | "cutting"
        | "saved" | "lowering" | "reducing" | "dropping" | "falling" | "rid" => Way::Less,
        "plus" | "added" | "adds" | "add" | "top" | "rising" | "later" | "wider" | "growing"
        | "dearer" | "pricier" | "expensive" | "adding" | "increasing" | "raises" | "raised"
        | "raise" | "overhead" | "premium" | "deeper" | "thicker" | "costs" | "exceeds"
        | "exceed" | "climbs" | "gaining" | "surplus" => Way::More,
        "outperforms" | "outruns" | "leading" | "improve" | "speeding" | "swifter"
        | "accelerates" | "accelerated" | "snappier" => Way::Faster,
        "trails" | "trail" | "penalty" | "trailing" | "lagging" | "slowed" | "slows" | "lagged"
        | "hit" => Way::Slower,
        "over" | "many" | "much" | "long" | "high" | "large" | "big" | "fast" | "slow"
        | "quickly" => return None,
        other => return pointing::way(other),
    })
}

pub(super) fn ends(t: &Token) -> bool {
    [';', ':', '(', ')', '—', '–', '!', '?'].iter().any(|m| t.is_mark(*m))
}

pub(super) fn conjunction(t: &Token) -> bool {
    matches!(
        t.lower.as_str(),
        "but" | "while" | "whereas" | "although" | "though" | "yet" | "because" | "since"
    )
}

/// The words that point, behind a number up to so many tokens on, else before it.
pub(super) fn points(tokens: &[Token], at: usize, end: usize) -> (Option<Way>, Option<usize>) {
    // "throughput is up 83%, with 4 fewer nodes"
    let moved = match back(tokens, at, 1) {
        "up" => Some(Way::More),
        "down" => Some(Way::Less),
        _ => None,
    };
    if moved.is_some()
        && matches!(back(tokens, at, 2), "is" | "are" | "was" | "were" | "went" | "goes" | "go")
    {
        return (moved, Some(at - 1));
    }
    let next = lower(tokens, end);
    if next == "as" {
        // "times as fast", "as many", "as long"
        let word = lower(tokens, end + 1);
        let way = match word {
            "fast" | "quick" | "quickly" | "efficient" => Way::Faster,
            "slow" | "slowly" | "bad" => Way::Slower,
            "small" | "little" | "few" | "short" | "cheap" => Way::Less,
            _ => Way::More,
        };
        return (Some(way), Some(end + 1));
    }
    for i in end..(end + 5).min(tokens.len()) {
        let t = &tokens[i];
        if t.number().is_some()
            || ends(t)
            || t.is_mark(',')
            || t.is_mark('.')
            || conjunction(t)
            || t.lower == "and"
        {
            break;
        }
        if matches!(t.lower.as_str(), "than" | "of" | "vs" | "for") && i > end {
            break;
        }
        if t.lower == "over" && i == end {
            return before(tokens, at)
                .map_or((Some(Way::More), Some(i)), |(w, j)| (Some(w), Some(j)));
        }
        if let Some(way) = way(&t.lower) {
            return (Some(way), Some(i));
        }
    }
    let sign = at.checked_sub(1).map(|p| &tokens[p]);
    if let Some(sign) = sign {
        if sign.is_mark('-') || sign.is_mark('−') || sign.is_mark('–') {
            return (Some(Way::Less), Some(at));
        } else if sign.is_mark('+') {
            return (Some(Way::More), Some(at));
        }
    }
    before(tokens, at).map_or((None, None), |(w, j)| (Some(w), Some(j)))
}

/// The pointing word before a number.
pub(super) fn before(tokens: &[Token], at: usize) -> Option<(Way, usize)> {
    for j in (at.saturating_sub(9)..at).rev() {
        let t = &tokens[j];
        // "got slower: by 10%"
        let goes_on = t.is_mark(':') && lower(tokens, j + 1) == "by";
        if ends(t) && !goes_on || conjunction(t) || t.quantity().is_some_and(|n| n.unit.is_some()) {
            return None;
        }
        let bounds =
            matches!(t.lower.as_str(), "than" | "over" | "above" | "below" | "up" | "down")
                && j + 1 == at
                && !(matches!(t.lower.as_str(), "up" | "down"))
                || matches!(
                    t.lower.as_str(),
                    "more" | "less" | "fewer" | "higher" | "lower" | "better" | "greater"
                ) && lower(tokens, j + 1) == "than"
                || t.lower == "up" && lower(tokens, j + 1) == "to";
        // "dropped even more, by 83%"
        let adverb = matches!(t.lower.as_str(), "more" | "less" | "further")
            && (tokens.get(j + 1).is_some_and(|t| t.is_mark(',')) || lower(tokens, j + 1) == "by");
        if bounds || adverb {
            continue;
        }
        if let Some(way) = way(&t.lower) {
            return Some((way, j));
        }
    }
    None
}

/// Whether the words right before a number make it an amount of change: "saves 3 s", "by 3 s", "another 3 s".
pub(super) fn changed(tokens: &[Token], at: usize) -> Option<(Way, usize)> {
    let mut j = at;
    while j > 0 {
        j -= 1;
        let word = lower(tokens, j);
        // "saves $8,850 a month"
        if tokens[j].is_currency() && j + 1 == at {
            continue;
        }
        if matches!(
            word,
            "by" | "another"
                | "about"
                | "around"
                | "roughly"
                | "only"
                | "just"
                | "nearly"
                | "almost"
                | "some"
                | "us"
                | "a"
                | "an"
                | "of"
                | "more"
                | "than"
                | "over"
                | "additional"
                | "extra"
                | "further"
                | "approximately"
                | "mere"
                | "at"
                | "least"
                | "up"
                | "to"
                | "another's"
                | "exactly"
                | "full"
                | "whole"
                | "~"
                | "you"
                | "well"
        ) {
            if at - j > 6 {
                return None;
            }
            if word == "by" {
                return before(tokens, j);
            }
            if word == "to" && lower(tokens, j.saturating_sub(1)) != "up" {
                return None;
            }
            if matches!(word, "extra" | "additional") {
                return Some((Way::More, j));
            }
            continue;
        }
        let verb = matches!(
            word,
            "saves"
                | "saved"
                | "save"
                | "saving"
                | "savings"
                | "gain"
                | "gains"
                | "gained"
                | "lost"
                | "loses"
                | "lose"
                | "cuts"
                | "cut"
                | "adds"
                | "added"
                | "add"
                | "removes"
                | "removed"
                | "shaves"
                | "shaved"
                | "difference"
                | "drop"
                | "increase"
                | "decrease"
                | "reduction"
                | "sheds"
                | "wins"
                | "off"
                | "trims"
                | "drops"
                | "improvement"
                | "spares"
                | "frees"
                | "freed"
                | "costs"
                | "up"
                | "down"
                | "penalty"
                | "overhead"
                | "rise"
                | "cutting"
                | "rid"
        );
        // "costs 3 s" is a value as often as a change.
        return if verb && word != "costs" { way(word).map(|w| (w, j)) } else { None };
    }
    None
}
