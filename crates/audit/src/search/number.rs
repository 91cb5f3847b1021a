//! What one number or word says: so many per cent, so many times, so much more, a value, a rank.

use std::ops::Range;

use crate::detect::pointing::Way;
use crate::detect::trigger::bound;
use crate::evidence::amount::{self, Amount, Dimension};
use crate::judge::reading::Bound;
use crate::read::token::Token;
use crate::read::unit::Unit;

use super::fraction::{goes, part};
use super::rank::rank;
use super::say::{Ranked, Say, What};
use super::way::{back, changed, ends, lower, points, way as way_of};

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

/// A price: "$1.27", "47 cents".
fn money(tokens: &[Token], i: usize) -> Option<(Amount, usize)> {
    let n = tokens[i].quantity()?;
    let sign = i > 0 && tokens[i - 1].is_currency();
    let cents = matches!(lower(tokens, i + 1), "cents" | "cent") && n.unit.is_none();
    let factor = if cents { 0.01 } else { 1.0 };
    let (value, step) = (n.base() * factor, n.step * n.scale * factor);
    (sign || cents).then_some((
        Amount { value, step, measure: amount::PLAIN, printed: value },
        if cents { 2 } else { 1 },
    ))
}

/// "of the time", "of the CPU", with no other that they are those of: a share of a whole that is printed nowhere.
fn is_of_whole(tokens: &[Token], i: usize) -> bool {
    lower(tokens, i) == "of"
        && lower(tokens, i + 1) == "the"
        && matches!(lower(tokens, i + 2), "time" | "cpu")
        && !matches!(
            lower(tokens, i + 3),
            "of" | "that"
                | "it"
                | "the"
                | "a"
                | "an"
                | "needed"
                | "spent"
                | "taken"
                | "used"
                | "for"
        )
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
            ranked: Ranked::First,
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
            let mut say = make(i..i + 1, What::Times, way, value, 0.2 * value);
            // "more than halved": at most half is left.
            if word.starts_with("hal") && say.bound == Bound::AtLeast {
                say.bound = Bound::AtMost;
            }
            return Some(say);
        }
        if let Some(part) = part(tokens, i) {
            return Some(make(part.own, part.what, part.way, part.value, 0.2 * part.value));
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
        let heard = rank(tokens, i)?;
        let way = (heard.way, heard.way.map(|_| i));
        let say = make(i..heard.end.min(tokens.len()), heard.what, way, 0.0, 0.0);
        return Some(Say { ranked: heard.ranked, ..say });
    }
    let n = tokens[i].quantity()?;
    // "X2-250", "the 99.9 percentile"
    let named = i > 0
        && tokens[i - 1].is_word()
        && tokens[i - 1].capital
        && text[tokens[i - 1].span.end..tokens[i].span.start] == *"-";
    // "462.libquantum"
    let mut behind = text[tokens[i].span.end..].chars();
    let program = behind.next() == Some('.') && behind.next().is_some_and(char::is_alphabetic);
    // "Zephyr 7950X"
    let model = n.unit == Some(Unit::Times)
        && n.value >= 1000.0
        && i > 0
        && tokens[i - 1].is_word()
        && tokens[i - 1].capital;
    if i > 0 && tokens[i - 1].is_mark('±')
        || model
        || program
        || named
        || lower(tokens, i + 1) == "percentile"
    {
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
        // "costs 0.3 points" of what is better if it is more.
        let way = points(tokens, i, end);
        let costs = way.1.is_some_and(|w| matches!(lower(tokens, w), "costs" | "cost"));
        let way = if costs { (None, None) } else { way };
        return Some(make(i..end, What::Delta(percent), way, n.value, n.step));
    }
    let speedup = value.dimension() == Dimension::Plain
        && (i.saturating_sub(7)..i).any(|j| {
            matches!(lower(tokens, j), "speedup" | "speed-up" | "speedups")
                || matches!(lower(tokens, j), "up" | "ups") && back(tokens, j, 1) == "speed"
        })
        && (n.step < 1.0 || back(tokens, i, 1) == "of");
    // "going to 64 nodes multiplies it by 7.6"
    let multiplied = back(tokens, i, 1) == "by"
        && (i.saturating_sub(9)..i)
            .any(|j| matches!(lower(tokens, j), "multiplies" | "multiplied" | "multiply"));
    let factor =
        back(tokens, i, 1) == "of" && back(tokens, i, 2) == "factor" || speedup || multiplied;
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
            || matches!(back(tokens, i, 1), "reaches" | "reached" | "reach") && next != "of"
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
        // "has dropped to 58%", "is busy for 64% of the time": what it is, as well as a share of another.
        let left = back(tokens, i, 1) == "to" && way_of(back(tokens, i, 2)).is_some();
        let way = if left && next != "of" && way_of(next).is_none() || is_of_whole(tokens, past) {
            (None, None)
        } else if next == "of" && goes(tokens, i, past) {
            (Some(Way::Less), None)
        } else if next == "of" {
            match changed(tokens, i) {
                Some((w, j)) if i - j < 4 => (Some(w), Some(j)),
                _ if (1..4).any(|n| matches!(back(tokens, i, n), "costs" | "cost")) => {
                    (Some(Way::Less), None)
                }
                // "within 3% of each other"
                _ if back(tokens, i, 1) == "within" => (None, None),
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
    // "With 8 threads we gain 28%": the verb is of another number.
    let introduced = matches!(back(tokens, i, 1), "with" | "at" | "on" | "for" | "in");
    let reach = if introduced { 1 } else { 3 };
    for (j, t) in tokens.iter().enumerate().skip(end).take(reach) {
        if t.number().is_some()
            || ends(t)
            || t.is_mark(',')
            || t.is_mark('.')
            || matches!(t.lower.as_str(), "than" | "and" | "of" | "for" | "with" | "is" | "was")
        {
            break;
        }
        let word = t.lower.as_str();
        // "are no longer needed"
        if word == "longer" && back(tokens, j, 1) == "no" {
            way = Some((Way::Less, j));
            break;
        }
        if let Some(w) = way_of(word).filter(|_| {
            !matches!(word, "costs" | "up" | "down" | "hit" | "cut" | "increase" | "drop")
        }) {
            // "the 750 GB drive gains": which one.
            let which = matches!(back(tokens, i, 1), "the" | "our" | "its") && j > end;
            way = Some((w, j)).filter(|_| !which || !word.ends_with('s'));
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
                | "rid"
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
    // "The gap between A and B is 1,940 sessions"
    let gap = matches!(back(tokens, i, 1), "is" | "was" | "to" | "only")
        && tokens[i.saturating_sub(16)..i]
            .iter()
            .rev()
            .take_while(|t| !ends(t) && t.quantity().is_none_or(|n| n.unit.is_none()))
            .any(|t| matches!(t.lower.as_str(), "gap" | "difference" | "distance"));
    let apart = !baseline && !introduced && near.iter().any(apart);
    if way.is_none() && (apart || gap) {
        return Some(make(i..end, What::Delta(value), (None, None), n.value, n.step));
    }
    Some(match way {
        Some((w, j)) => make(i..end, What::Delta(value), (Some(w), Some(j)), n.value, n.step),
        None => make(i..end, What::Value(value), (None, None), n.value, n.step),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::source::Span;
    use crate::read::token::tokens;

    /// What the first number of a sentence says, and which way.
    fn first(text: &str) -> Option<(What, Option<Way>)> {
        let tokens = tokens(text, Span::new(0, text.len()));
        let number = (0..tokens.len()).filter(|i| tokens[*i].quantity().is_some());
        number.filter_map(|i| at(text, &tokens, i)).map(|s| (s.what, s.way)).next()
    }

    #[test]
    fn amounts_of_change_are_told_from_values() {
        for (text, way) in [
            ("The Rust fleet saves $8,850 a month.", Some(Way::Less)),
            ("The batch encoder gets rid of 194 allocations.", Some(Way::Less)),
            ("Small packets improve by 257 kpps.", Some(Way::Faster)),
            ("The scan got slower: by 12 ms.", Some(Way::Slower)),
            ("The gap between the two boxes in Banking is 1,940 sessions.", None),
            ("The distance between the two boxes in Banking is 1,940 sessions.", None),
        ] {
            let found = first(text);
            assert!(matches!(found, Some((What::Delta(_), w)) if w == way), "{text} {found:?}");
        }
        for text in ["The fleet costs $8,850 a month.", "The box in Banking is at 1,940 sessions."]
        {
            assert!(matches!(first(text), Some((What::Value(_), None))), "{text}");
        }
    }

    #[test]
    fn factors_are_told_from_values() {
        for text in [
            "The speed-up with all threads is 11.9.",
            "We see a speed-up of 8.9.",
            "More nodes multiply the performance by 7.6.",
        ] {
            let found = first(text);
            assert!(matches!(found, Some((What::Times, _))), "{text} {found:?}");
        }
        assert!(matches!(first("The time with all threads is 11.9."), Some((What::Value(_), _))));
    }

    #[test]
    fn percentages_that_are_left_or_of_a_whole_may_be_values() {
        for text in [
            "The load has dropped to 31% since.",
            "The lock is down to 3.1%.",
            "With cubby the disk is busy for 31% of the time.",
            "It takes 31% of the CPU on this box.",
        ] {
            assert_eq!(first(text), Some((What::Percent, None)), "{text}");
        }
        for (text, way) in [
            ("The load has dropped by 31% since.", Way::Less),
            ("It runs in 31% of the time of cubby.", Way::Of),
            ("It has dropped to 31% of what it was.", Way::Of),
        ] {
            let found = first(text);
            assert!(
                matches!(found, Some((What::Percent, Some(w))) if w == way),
                "{text} {found:?}"
            );
        }
    }

    #[test]
    fn what_is_reached_of_another_is_a_share() {
        let share = first("The V120 reaches 28% of the read IOPS of the M80.");
        assert_eq!(share, Some((What::Percent, Some(Way::Of))));
        assert!(matches!(first("The hit rate reaches 28% now."), Some((What::Value(_), None))));
    }
}
