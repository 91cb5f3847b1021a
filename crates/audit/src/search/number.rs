//! What one number or word says: so many per cent, so many times, so much more, a value, a rank.

use std::ops::Range;

use crate::detect::pointing::{self, Way};
use crate::detect::trigger::bound;
use crate::evidence::amount::{self, Amount, Dimension};
use crate::evidence::extreme::{Most, superlative};
use crate::read::token::Token;

use super::say::{Say, What};
use super::way::{back, changed, ends, lower, points, way as way_of};

/// "a third", "two thirds", "a quarter": how many of how many, and where it begins.
fn fraction(tokens: &[Token], i: usize) -> Option<(f64, usize)> {
    let parts = match lower(tokens, i) {
        "half" => return Some((0.5, i)),
        "third" | "thirds" => 3.0,
        "quarter" | "quarters" => 4.0,
        "fifth" | "fifths" => 5.0,
        "sixth" | "sixths" => 6.0,
        "seventh" | "sevenths" => 7.0,
        "eighth" | "eighths" => 8.0,
        "ninth" | "ninths" => 9.0,
        "tenth" | "tenths" => 10.0,
        "twelfth" => 12.0,
        "twentieth" => 20.0,
        "hundredth" => 100.0,
        "thousandth" => 1000.0,
        _ => return None,
    };
    let first = i.checked_sub(1)?;
    let count = match lower(tokens, first) {
        "a" | "an" | "one" | "another" => 1.0,
        _ => tokens[first].quantity().filter(|n| n.spelled)?.value,
    };
    (count < parts).then_some((count / parts, first))
}

/// "twice", "double", "triples".
fn multiple(word: &str) -> Option<f64> {
    Some(match word {
        "twice" | "double" | "doubles" | "doubled" | "doubling" | "twofold" => 2.0,
        "triple" | "triples" | "tripled" | "thrice" | "tripling" | "threefold" => 3.0,
        "quadruple" | "quadruples" | "quadrupled" | "fourfold" => 4.0,
        "tenfold" => 10.0,
        "fivefold" => 5.0,
        "hundredfold" => 100.0,
        "halves" | "halved" | "halving" => 0.5,
        _ => return None,
    })
}

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

/// A price: "$1.27", "47 cents".
fn money(tokens: &[Token], i: usize) -> Option<(Amount, usize)> {
    let n = tokens[i].quantity()?;
    let sign = i > 0 && (tokens[i - 1].is_mark('$') || tokens[i - 1].is_mark('€'));
    let cents = matches!(lower(tokens, i + 1), "cents" | "cent") && n.unit.is_none();
    let factor = if cents { 0.01 } else { 1.0 };
    let (value, step) = (n.base() * factor, n.step * n.scale * factor);
    (sign || cents).then_some((
        Amount { value, step, measure: amount::PLAIN, printed: value },
        if cents { 2 } else { 1 },
    ))
}

/// One thing said at a token, with where it begins and ends.
pub(super) fn at(text: &str, tokens: &[Token], i: usize) -> Option<Say> {
    let make =
        |own: Range<usize>, what, way: (Option<Way>, Option<usize>), value: f64, step: f64| Say {
            bound: bound(tokens, own.start),
            own,
            what,
            way: way.0,
            word: way.1,
            value,
            step,
            clause: 0..0,
            from: 0,
            than: 0..0,
        };
    let word = lower(tokens, i);
    if tokens[i].is_word() {
        if let Some(value) = multiple(word) {
            let way = if word.starts_with("hal") {
                (Some(Way::Of), None)
            } else {
                points(tokens, i, i + 1)
            };
            // "twice the time": of; "doubled the speed".
            let way = match lower(tokens, i + 1) {
                "the" | "that" | "what" | "its" | "in" | "to" | "from" | "," | "." | ""
                    if way.1.is_none_or(|w| w > i + 2 || w < i) =>
                {
                    (Some(Way::Of), None)
                }
                _ if way.0.is_none() => (Some(Way::Of), None),
                _ => way,
            };
            return Some(make(i..i + 1, What::Times, way, value, 0.2 * value));
        }
        if let Some((value, first)) = fraction(tokens, i) {
            let next = lower(tokens, i + 1);
            // "half an hour", "half a rack", "the first half", "third party", "in the first quarter"
            if matches!(
                next,
                "an" | "a" | "party" | "hour" | "dozen" | "million" | "way" | "height"
            ) || matches!(back(tokens, i, 1), "first" | "second" | "the" | "other" | "our")
                && first == i
            {
                return None;
            }
            let own = first..i + 1;
            let (way, at_word) = points(tokens, first, i + 1);
            let near = at_word.is_some_and(|w| w == i + 1);
            let loses =
                changed(tokens, first).filter(|(w, _)| matches!(w, Way::Less | Way::Slower));
            let by = back(tokens, first, 1) == "by"
                || back(tokens, first, 3) == "by" && back(tokens, first, 1) == "than"
                || back(tokens, first, 2) == "by";
            if next == "again" {
                return Some(make(
                    own,
                    What::Percent,
                    (Some(Way::More), None),
                    100.0 * value,
                    20.0 * value,
                ));
            }
            if near || by {
                return Some(make(own, What::Percent, (way, at_word), 100.0 * value, 20.0 * value));
            }
            if let Some((w, j)) = loses {
                return Some(make(
                    own,
                    What::Percent,
                    (Some(w), Some(j)),
                    100.0 * value,
                    20.0 * value,
                ));
            }
            if next == "as" {
                return Some(make(own, What::Times, (way, at_word), value, 0.2 * value));
            }
            if !matches!(next, "of" | "the" | "that" | "what" | "its" | "their" | "those")
                && word != "half"
            {
                return Some(make(own, What::Percent, (None, None), 100.0 * value, 20.0 * value));
            }
            return Some(make(own, What::Times, (Some(Way::Of), None), value, 0.2 * value));
        }
        if matches!(word, "orders" | "order")
            && lower(tokens, i + 1) == "of"
            && lower(tokens, i + 2) == "magnitude"
        {
            let count =
                i.checked_sub(1).and_then(|p| tokens[p].quantity()).map_or(1.0, |n| n.value);
            let way = points(tokens, i, i + 3);
            return (count <= 12.0).then(|| make(i..i + 3, What::Orders, way, count, 1.0));
        }
        if let Some(most) = superlative(word).or(match word {
            "cheapest" | "lightest" | "leanest" | "tightest" | "fewest" | "quietest"
            | "coolest" | "thriftiest" => Some(Most::Least),
            "dearest" | "heaviest" | "priciest" | "costliest" | "loudest" | "hottest"
            | "thirstiest" | "hungriest" | "noisiest" | "busiest" | "greediest" => {
                Some(Most::Greatest)
            }
            "leads" | "tops" if beats_one(tokens, i) => None,
            "leads" | "wins" | "tops" => Some(Most::Best),
            "last" if is_last(tokens, i) => Some(Most::Worst),
            _ => None,
        }) {
            let at_most = matches!(back(tokens, i, 1), "at" | "of" | "by")
                && matches!(word, "most" | "least" | "best" | "worst");
            let of = matches!(word, "most" | "best")
                && matches!(lower(tokens, i + 1), "of" | "practice" | "practices" | "likely");
            let most = match (word, lower(tokens, i + 1)) {
                ("most", "efficient") => Most::Best,
                ("least", "efficient") => Most::Worst,
                _ => most,
            };
            return (!at_most && !of)
                .then(|| make(i..i + 1, What::Most(most), (None, None), 0.0, 0.0));
        }
        let beats = match word {
            "beats" | "outperforms" | "beat" | "outperformed" | "outruns" => Some(Way::Faster),
            "trails" => Some(Way::Slower),
            "leads" | "tops" if beats_one(tokens, i) => Some(Way::Faster),
            "ahead" if lower(tokens, i + 1) == "of" => Some(Way::Faster),
            "behind" if tokens.get(i + 1).is_some_and(Token::is_word) => Some(Way::Slower),
            _ if lower(tokens, i + 1) == "than" => pointing::way(word),
            _ => None,
        };
        return beats.map(|w| make(i..i + 1, What::Beats, (Some(w), Some(i)), 0.0, 0.0));
    }
    let n = tokens[i].quantity()?;
    if i > 0 && tokens[i - 1].is_mark('±') {
        return None;
    }
    let (value, used) = money(tokens, i).or_else(|| amount::at(text, tokens, i))?;
    let mut end = i + 1;
    if tokens.get(end).is_some_and(|t| t.is_mark('±'))
        && tokens.get(end + 1).is_some_and(|t| t.quantity().is_some())
    {
        end += 2;
    }
    let next = lower(tokens, end);
    let points_of = matches!(next, "percentage" | "points" | "point" | "pp")
        && value.dimension() != Dimension::Percent
        || value.dimension() == Dimension::Percent && matches!(lower(tokens, end), "points" | "pp")
        || value.dimension() == Dimension::Percent && lower(tokens, end) == "percentage";
    if points_of {
        let percent = Amount {
            measure: amount::Measure { dimension: Dimension::Percent, scale: 1.0, binary: None },
            value: n.value,
            step: n.step,
            printed: n.value,
        };
        let end = if lower(tokens, end + 1).starts_with("point") { end + 2 } else { end + 1 };
        return Some(make(i..end, What::Delta(percent), points(tokens, i, end), n.value, n.step));
    }
    let speedup = value.dimension() == Dimension::Plain
        && (i.saturating_sub(7)..i).any(|j| {
            matches!(lower(tokens, j), "speedup" | "speed-up" | "speedups")
                || lower(tokens, j) == "up" && back(tokens, j, 2) == "speed"
        })
        && (n.step < 1.0 || back(tokens, i, 1) == "of");
    let factor = back(tokens, i, 1) == "of" && back(tokens, i, 2) == "factor" || speedup;
    let times = value.dimension() == Dimension::Times
        || factor && n.unit.is_none()
        || matches!(next, "times" | "x" | "fold")
        || tokens.get(end).is_some_and(|t| t.is_mark('×'));
    let step = if n.spelled { 1.0 } else { n.step };
    if times {
        let past = if end == i + 1 && !factor { i + used.max(1) } else { end };
        let past = if matches!(lower(tokens, past), "times" | "x" | "fold")
            || tokens.get(past).is_some_and(|t| t.is_mark('×'))
        {
            past + 1
        } else {
            past
        };
        // "4 times a day"
        if matches!(lower(tokens, past), "a" | "per" | "in" | "each") && !factor {
            return None;
        }
        let next = lower(tokens, past);
        let mut way = points(tokens, i, past);
        let that = matches!(next, "that" | "the" | "what" | "its");
        if that && way.1.is_none_or(|w| w > past) || way.0.is_none() && !factor {
            way = (Some(Way::Of), None);
        }
        return Some(make(i..past, What::Times, way, n.value, step));
    }
    if value.dimension() == Dimension::Percent {
        let past = if end == i + 1 { i + used.max(1) } else { end };
        let past = if matches!(lower(tokens, past), "percent" | "per" | "cent" | "%")
            || tokens.get(past).is_some_and(|t| t.is_mark('%'))
        {
            past + 1
        } else {
            past
        };
        let next = lower(tokens, past);
        // "from 92% to 71%" states two values.
        let stated = back(tokens, i, 1) == "from"
            || back(tokens, i, 1) == "to"
                && (i.saturating_sub(5)..i).any(|p| lower(tokens, p) == "from");
        if stated
            || matches!(
                next,
                "full"
                    | "busy"
                    | "idle"
                    | "utilization"
                    | "cpu"
                    | "load"
                    | "user"
                    | "ci"
                    | "confidence"
                    | "hit"
            )
        {
            return Some(make(i..past, What::Value(value), (None, None), n.value, n.step));
        }
        let way = if next == "of" {
            match changed(tokens, i) {
                Some((w, j)) if i - j < 4 => (Some(w), Some(j)),
                _ if (1..4).any(|n| matches!(back(tokens, i, n), "costs" | "cost")) => {
                    (Some(Way::Less), None)
                }
                _ => (Some(Way::Of), None),
            }
        } else {
            points(tokens, i, past)
        };
        return Some(make(i..past, What::Percent, way, n.value, n.step));
    }
    let end = (i + used).max(end);
    let label = n.label || n.spelled && value.dimension() == Dimension::Plain;
    if label {
        return None;
    }
    // "12,400 fewer methods", "3.5 ms shorter", "33 fps on top", "18 s behind"
    let mut way = None;
    for (j, t) in tokens.iter().enumerate().skip(end).take(3) {
        if t.number().is_some()
            || ends(t)
            || t.is_mark(',')
            || t.is_mark('.')
            || matches!(t.lower.as_str(), "than" | "and" | "of" | "for" | "with")
        {
            break;
        }
        let word = t.lower.as_str();
        if let Some(w) = way_of(word).filter(|_| {
            !matches!(word, "costs" | "up" | "down" | "hit" | "cut" | "increase" | "drop")
        }) {
            way = Some((w, j));
            break;
        }
    }
    let baseline = matches!(back(tokens, i, 1), "than" | "from" | "to" | "of" | "versus" | "vs")
        && !matches!(
            back(tokens, i, 2),
            "more"
                | "less"
                | "saving"
                | "gain"
                | "difference"
                | "savings"
                | "drop"
                | "increase"
                | "reduction"
                | "improvement"
        );
    let way = way.or_else(|| changed(tokens, i).filter(|_| !baseline));
    // "a gap of 1.3 dBA", "24 MB are saved", "93 hours in absolute terms"
    let apart = |t: &Token| {
        matches!(
            t.lower.as_str(),
            "gap"
                | "difference"
                | "differ"
                | "saved"
                | "savings"
                | "absolute"
                | "lead"
                | "gone"
                | "margin"
                | "apart"
                | "freed"
                | "spared"
        )
    };
    let near = &tokens[i.saturating_sub(5)..(end + 5).min(tokens.len())];
    if way.is_none() && !baseline && near.iter().any(apart) {
        return Some(make(i..end, What::Delta(value), (None, None), n.value, n.step));
    }
    Some(match way {
        Some((w, j)) => make(i..end, What::Delta(value), (Some(w), Some(j)), n.value, n.step),
        None => make(i..end, What::Value(value), (None, None), n.value, n.step),
    })
}
