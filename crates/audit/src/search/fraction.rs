//! Parts of something in words: "a third of", "cut to a quarter", "half again as many", "two thirds less".

use std::ops::Range;

use crate::detect::pointing::Way;
use crate::read::token::Token;

use super::say::What;
use super::way::{back, changed, ends, lower, points};

/// What a part says: its tokens, the kind of claim, which way words point and which word does, how much.
pub(super) struct Part {
    pub own: Range<usize>,
    pub what: What,
    pub way: (Option<Way>, Option<usize>),
    pub value: f64,
}

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

/// "38% of the requests are gone", "eats 41% of the throughput": what is left is the rest.
pub(super) fn goes(tokens: &[Token], at: usize, end: usize) -> bool {
    let before = (1..4).any(|by| {
        matches!(back(tokens, at, by), "eats" | "eat" | "ate" | "swallows")
            || back(tokens, at, by) == "up"
                && matches!(back(tokens, at, by + 1), "gives" | "gave" | "give")
    });
    let clause = tokens.iter().skip(end).take(8).take_while(|t| !ends(t) && !t.is_mark(','));
    let mut after = clause.map(|t| t.lower.as_str());
    before
        || after.any(|w| matches!(w, "gone" | "disappear" | "disappears" | "vanish" | "vanished"))
}

/// What a part in words says, if it says anything.
pub(super) fn part(tokens: &[Token], i: usize) -> Option<Part> {
    let (value, first) = fraction(tokens, i)?;
    let (word, next) = (lower(tokens, i), lower(tokens, i + 1));
    // "half an hour", "half a rack", "the first half", "third party", "in the first quarter"
    if matches!(next, "an" | "a" | "party" | "hour" | "dozen" | "million" | "way" | "height")
        || matches!(back(tokens, i, 1), "first" | "second" | "the" | "other" | "our") && first == i
    {
        return None;
    }
    let own = first..i + 1;
    let percent =
        |way| Some(Part { own: own.clone(), what: What::Percent, way, value: 100.0 * value });
    let times = |way| Some(Part { own: own.clone(), what: What::Times, way, value });
    let (way, at_word) = points(tokens, first, i + 1);
    let near = at_word.is_some_and(|w| w == i + 1);
    let loses = changed(tokens, first).filter(|(w, _)| matches!(w, Way::Less | Way::Slower));
    let by = back(tokens, first, 1) == "by"
        || back(tokens, first, 3) == "by" && back(tokens, first, 1) == "than"
        || back(tokens, first, 2) == "by";
    // "half again as many", "half as much again"
    let again =
        next == "again" || next == "as" && (i + 2..i + 5).any(|j| lower(tokens, j) == "again");
    if again {
        return percent((Some(Way::More), None));
    }
    // "fell to a third", "cut to about a quarter"
    let adverb = matches!(
        back(tokens, first, 1),
        "about" | "just" | "nearly" | "almost" | "roughly" | "only" | "around"
    );
    if back(tokens, first, if adverb { 2 } else { 1 }) == "to" && !near {
        return times((Some(Way::Of), None));
    }
    if near || by {
        return percent((way, at_word));
    }
    if let Some((w, j)) = loses {
        return percent((Some(w), Some(j)));
    }
    if next == "of" && goes(tokens, first, i + 1) {
        return percent((Some(Way::Less), None));
    }
    if next == "as" {
        return times((way, at_word));
    }
    if !matches!(next, "of" | "the" | "that" | "what" | "its" | "their" | "those") && word != "half"
    {
        return percent((None, None));
    }
    times((Some(Way::Of), None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::source::Span;
    use crate::read::token::tokens;

    fn parts(text: &str) -> Vec<(What, Option<Way>)> {
        let tokens = tokens(text, Span::new(0, text.len()));
        let found = (0..tokens.len()).filter_map(|i| part(&tokens, i));
        found.map(|p| (p.what, p.way.0)).collect()
    }

    #[test]
    fn what_is_left_is_no_change() {
        let left = [(What::Times, Some(Way::Of))];
        assert_eq!(parts("It fell to a third."), left);
        assert_eq!(parts("Sleep current has been cut to about a quarter."), left);
        assert_eq!(parts("It takes a third of the time."), left);
        assert_eq!(parts("It fell by a third."), [(What::Percent, Some(Way::Less))]);
        assert_eq!(
            parts("It got rid of two thirds of its size."),
            [(What::Percent, Some(Way::Less))]
        );
    }
}
