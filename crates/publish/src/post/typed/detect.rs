//! Finds every quantity in a text: digits of any script and number words, except those in names and
//! days of the data.

use std::ops::Range;

use super::atoms::{Atom, atoms};
use super::exempt::ExemptWords;

/// Number words, each with its inflections.
const WORDS: &str = "zero two three four five six seven eight nine ten eleven twelve thirteen \
                     fourteen fifteen sixteen \
                     seventeen eighteen nineteen twenty thirty forty fourty fifty sixty seventy \
                     eighty ninety hundred \
                     hundreds thousand thousands million millions billion billions trillion \
                     trillions dozen dozens \
                     twice thrice double doubles doubled doubling triple triples tripled tripling \
                     treble trebles \
                     trebled quadruple quadruples quadrupled quintuple quintupled sextuple octuple \
                     halve halves halved \
                     halving half third thirds quarter quarters fourth fourths fifth fifths sixth \
                     sixths seventh \
                     sevenths eighth eighths ninth ninths tenth tenths twentieth hundredth \
                     hundredths thousandth \
                     thousandths percent percents percentage pct magnitude magnitudes";

/// Words before `times`, and words after it, that make it a ratio.
const MANY: [&str; 5] = ["many", "several", "few", "multiple", "countless"];
const THAN: [&str; 13] = [
    "as", "faster", "slower", "quicker", "better", "worse", "more", "less", "fewer", "higher",
    "lower", "larger", "smaller",
];

/// Returns the bytes of every typed quantity of a text, in order.
pub(in crate::post) fn find(text: &str, exempt: &ExemptWords) -> Vec<Range<usize>> {
    let all = atoms(text);
    let exempted = exempt.exempted(&all);
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut last: Option<usize> = None;
    for (i, atom) in all.iter().enumerate() {
        let typed = if atom.has_digit() { !exempted[i] } else { is_number(&all, i) };
        if !typed {
            continue;
        }
        let mut span = atom.span.clone();
        let next = text[span.end..].char_indices().find(|(_, c)| !c.is_whitespace());
        if let Some((at, sign)) = next.filter(|(_, c)| is_percent(*c)) {
            span.end += at + sign.len_utf8();
        }
        // `two hundred`, `2/3` and `one third` are one quantity each.
        let joined = last.is_some_and(|l| l + 1 == i)
            && ![", ", ". "].iter().any(|edge| atom.before.contains(edge))
            && atom.before.chars().all(|c| " -/.+^,".contains(c));
        match out.last_mut().filter(|_| joined) {
            Some(before) => before.end = span.end,
            None => out.push(span),
        }
        last = Some(i);
    }
    let found = out.len();
    for (at, c) in text.char_indices().filter(|(_, c)| is_percent(*c)) {
        let before = out[..found].partition_point(|f| f.start <= at);
        if before > 0 && out[before - 1].contains(&at) {
            continue;
        }
        // A letter in place of a digit: `l5 %`, `X%`.
        let word = text[..at].trim_end_matches(char::is_alphabetic).len();
        if word < at {
            out.push(word..at + c.len_utf8());
        }
    }
    out.sort_by_key(|f| f.start);
    out
}

/// Returns true for percent, per mille and per ten thousand signs.
pub(in crate::post) fn is_percent(c: char) -> bool {
    matches!(
        c,
        '%' | '\u{66a}' | '\u{2030}' | '\u{2031}' | '\u{609}' | '\u{60a}' | '\u{ff05}' | '\u{fe6a}'
    )
}

/// Returns true if a word without digits is a quantity.
fn is_number(all: &[Atom], i: usize) -> bool {
    let word = |at: Option<usize>| at.and_then(|at| all.get(at)).map_or("", |a| a.text.as_str());
    let (before, own, next) = (word(i.checked_sub(1)), word(Some(i)), word(Some(i + 1)));
    let listed = |word: &str| WORDS.split_whitespace().any(|w| w == word);
    match own {
        "times" => {
            THAN.contains(&next)
                || MANY.contains(&before) && ["the", "that", "its", "over"].contains(&next)
        }
        "cent" | "mille" => before == "per",
        "one" => listed(next),
        _ if own.ends_with("fold") => {
            let stem = own.trim_end_matches("fold");
            listed(stem) || ["two", "multi"].contains(&stem) || MANY.contains(&stem)
        }
        _ => listed(own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        find(text, &ExemptWords::example()).into_iter().map(|f| &text[f]).collect()
    }

    #[test]
    fn quantities_of_every_kind() {
        for (text, wanted) in [
            ("It is 5% better.", vec!["5%"]),
            ("It is 5 % better.", vec!["5 %"]),
            ("fifty percent better", vec!["fifty percent"]),
            ("a third less", vec!["third"]),
            ("one third less", vec!["one third"]),
            ("two-thirds of it", vec!["two-thirds"]),
            ("tenfold, double the work", vec!["tenfold", "double"]),
            ("an order of magnitude", vec!["magnitude"]),
            ("５０% and ⁵⁰% and ½", vec!["５０%", "⁵⁰%", "½"]),
            ("two hundred and fifty", vec!["two hundred", "fifty"]),
            ("2.6x, x50, 10^3", vec!["2.6x", "x50", "10^3"]),
            ("several times faster", vec!["times"]),
            ("٣٤ requests, Ⅻ of them", vec!["٣٤", "Ⅻ"]),
            ("五十パーセント", vec!["五十パーセント"]),
            ("X% better", vec!["X%"]),
            ("999999 bops", vec!["999999"]),
            ("nine-tenths", vec!["nine-tenths"]),
            ("three dozen", vec!["three dozen"]),
            ("on two disks", vec!["two"]),
            ("Power 571 and T9999", vec!["571", "T9999"]),
            ("Power 570 percent", vec!["570 percent"]),
            ("step 3 of it", vec!["3"]),
            ("2.5x of it", vec!["2.5x"]),
            ("in 2009 bops", vec!["2009"]),
            ("August 2009 bops", vec!["2009"]),
            ("On 28 August 2009, on 2009-08-28", vec!["28", "2009-08-28"]),
        ] {
            assert_eq!(found(text), wanted, "{text}");
        }
    }

    #[test]
    fn names_and_days_of_the_data_are_none() {
        for text in [
            "The T5240 and the Power 570 under Solaris 10, August 2009.",
            "On 27 August 2009 and 2009-08-27, with GCC 4.4.0.",
            "SPECjbb2005 and 450.soplex.",
            "One of them, no one, several times, in random order.",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
    }
}
