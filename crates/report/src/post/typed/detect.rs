//! Finds every quantity that stands in a text: digits of any script and words of number. What the data know as
//! a name, a version, a day or the number of a section is none.

use std::ops::Range;

use super::atoms::{Atom, COMPARING, COMPUTED, atoms};
use super::dates::dates;
use super::names::{Names, is_unit};
use super::vocabulary::{COUNTS, LARGE, MULTIPLES, PARTS};

/// A quantity that somebody typed.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::post) struct Found {
    /// Its bytes in the text.
    pub(in crate::post) span: Range<usize>,
    /// Whether it can be taken for a result: in a sentence that compares it is refused. Small counts (`two
    /// disks`) and words that look like names are shown as typed, no more.
    pub(in crate::post) result: bool,
}

/// Words that make `several times` a ratio: `several times faster`; `several times, in random order` is none.
const AS: &[&str] = &[
    "as", "faster", "slower", "better", "worse", "more", "less", "fewer", "higher", "lower",
    "quicker", "larger", "smaller", "over", "the", "that", "its",
];
const MANY: &[&str] = &["many", "several", "few", "multiple", "countless", "some"];
const SECTIONS: &[&str] = &[
    "section", "sections", "step", "table", "figure", "chapter", "appendix", "note", "page",
    "line", "item", "question",
];
const LABELS: &[&str] = &[
    "version", "release", "level", "sample", "kernel", "raid", "build", "post", "revision",
    "commit", "port", "model", "type", "class", "phase", "case",
];

/// Every typed quantity of a text.
pub(in crate::post) fn find(text: &str, names: &Names, heading: bool) -> Vec<Found> {
    let all = atoms(text);
    let dates = dates(&all, names);
    let mut out: Vec<Found> = Vec::new();
    let mut last: Option<usize> = None;
    for i in 0..all.len() {
        let atom = &all[i];
        let result = if atom.has_digit() {
            let ordinal = heading && i == 0 && atom.bare() && atom.after.starts_with(['.', ')']);
            if dates[i] || ordinal || names.has(&all, i) || numbers_a_section(&all, i) {
                None
            } else {
                Some(digits(&all, i, names))
            }
        } else {
            word(&all, i)
        };
        let Some(result) = result else { continue };
        let mut span = atom.span.clone();
        let sign = |c: &char| matches!(c, '%' | '\u{66a}' | '\u{2030}' | '\u{ff05}' | '\u{fe6a}');
        let rest = &text[span.end..];
        if let Some(c) = rest.chars().find(|c| !c.is_whitespace()).filter(sign)
            && let Some(at) = rest.find(c).filter(|at| *at <= 4)
        {
            span.end += at + c.len_utf8();
        }
        // `two hundred`, `2/3` and `one third` are one.
        let joins = |l: usize| {
            l + 1 == i
                && atom.before.chars().all(|c| matches!(c, ' ' | '-' | '/' | '.' | '+' | '^' | ','))
                && ![", ", ". "].iter().any(|edge| atom.before.contains(edge))
        };
        match out.last_mut().filter(|_| last.is_some_and(joins)) {
            Some(before) => {
                before.span.end = span.end;
                before.result |= result || atom.has_digit() == before.result;
            }
            None => out.push(Found { span, result }),
        }
        last = Some(i);
    }
    bare_percents(text, &mut out);
    out.sort_by_key(|f| f.span.start);
    out
}

/// Whether a byte is in one of these, which are in order.
fn is_in(found: &[Found], at: usize) -> bool {
    let before = found.partition_point(|f| f.span.start <= at);
    found[..before].last().is_some_and(|f| f.span.contains(&at))
}

/// A percent sign that no digit stands before: `l5 %` is one, `X%` another.
fn bare_percents(text: &str, out: &mut Vec<Found>) {
    let found = out.len();
    for (at, c) in text.char_indices() {
        if !matches!(c, '%' | '\u{66a}' | '\u{2030}' | '\u{ff05}') || is_in(&out[..found], at) {
            continue;
        }
        let own = text[..at].trim_end_matches(|c: char| c.is_alphabetic());
        let before = &text[own.len()..at];
        if !before.is_empty() {
            out.push(Found { span: own.len()..at + c.len_utf8(), result: true });
        }
    }
}

/// Whether a number with digits can be taken for a result.
fn digits(all: &[Atom], i: usize, names: &Names) -> bool {
    let atom = &all[i];
    let next = all.get(i + 1);
    let claims = atom.after.starts_with('%')
        || next.is_some_and(|n| atom.after.trim().is_empty() && names.measures(&n.text));
    if claims {
        return true;
    }
    if !atom.numeric() {
        // `x50` is a factor; other words with digits are names that the data do not know.
        return atom
            .text
            .strip_prefix('x')
            .is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
    }
    let compound = next.is_some_and(|n| n.before == "-" && !n.has_digit() && !is_unit(&n.text));
    if compound || atom.text.matches('.').count() > 1 {
        return false;
    }
    // After a name (`Power 999`) or what is numbered (`kernel 6`) it may be a part of it.
    let Some(before) = i.checked_sub(1).map(|j| &all[j]) else { return true };
    let near = atom.before.chars().all(|c| matches!(c, ' ' | '-' | '\n'));
    let technical = before.text.len() > 1 && before.has_digit() && !before.numeric();
    !(near
        && (before.is(LABELS) || before.capital && (i >= 2 || technical) && !before.is(STARTERS)))
}

/// Words that are written with a capital letter without being a part of a name.
const STARTERS: &[&str] = &[
    "a",
    "an",
    "the",
    "it",
    "this",
    "that",
    "about",
    "only",
    "over",
    "by",
    "with",
    "of",
    "at",
    "to",
    "is",
    "was",
    "gain",
    "gains",
    "throughput",
    "speedup",
    "performance",
    "improvement",
    "result",
    "results",
    "score",
];

/// Whether a word without digits is a quantity, and whether it can be taken for a result.
fn word(all: &[Atom], i: usize) -> Option<bool> {
    let atom = &all[i];
    let next = all.get(i + 1).map_or("", |n| n.text.as_str());
    let before = i.checked_sub(1).map_or("", |j| all[j].text.as_str());
    let claims = matches!(
        next,
        "times" | "percent" | "percentage" | "fold" | "points" | "pct" | "per" | "x"
    ) && !(next == "per" && all.get(i + 2).is_none_or(|n| n.text != "cent"))
        || atom.after.trim_start().starts_with('%');
    let counted = || atom.is(COUNTS).then_some(claims);
    if atom.is(MULTIPLES) {
        // `5 percent` belongs to the number, and so does what follows a computed one.
        let owned = atom.is(&["percent", "percentage", "pct", "percents"])
            && (atom.before.contains([COMPUTED, COMPARING])
                || next == "points" && before.is_empty());
        return (!owned).then_some(true);
    }
    if atom.is(LARGE) {
        return Some(true);
    }
    if let Some(stem) = atom.text.strip_suffix("fold") {
        let stem = stem.trim_end_matches('-');
        let own = COUNTS.contains(&stem)
            || LARGE.contains(&stem)
            || matches!(stem, "" | "several" | "multi");
        return own.then_some(true);
    }
    if atom.is(PARTS) {
        let part = matches!(
            before,
            "a" | "an" | "one" | "two" | "three" | "by" | "nine" | "to" | "of" | "four"
        ) || matches!(
            next,
            "less" | "more" | "fewer" | "of" | "as" | "faster" | "slower" | "better" | "worse"
        ) || atom.text.ends_with('s');
        return part.then_some(true);
    }
    match atom.text.as_str() {
        "one" => {
            let of = PARTS.contains(&next)
                || LARGE.contains(&next)
                || matches!(next, "quarter" | "half" | "order" | "point" | "percent" | "hundred");
            (of || claims).then_some(true)
        }
        "cent" | "mille" if before == "per" => {
            (!all[i - 1].before.contains([COMPUTED, COMPARING])).then_some(true)
        }
        "magnitude" | "magnitudes" => Some(true),
        "times" => {
            let many = MANY.contains(&before) && AS.contains(&next);
            // Whatever stands before it, `times faster` is a ratio; a computed one stands there itself.
            let computed = atom.before.contains([COMPUTED, COMPARING]);
            (many || !computed && AS[..12].contains(&next)).then_some(true)
        }
        _ => counted(),
    }
}

/// `step 3`, `table 2.1`: the number of a part of a text.
fn numbers_a_section(all: &[Atom], i: usize) -> bool {
    let Some(before) = i.checked_sub(1).map(|j| &all[j]) else { return false };
    let unit = all[i].after.starts_with('%') || all.get(i + 1).is_some_and(|n| is_unit(&n.text));
    // `read(2)` is a page of the manual.
    let manual = all[i].text.len() == 1 && all[i].before == "(" && all[i].after.starts_with(')');
    let part = before.is(SECTIONS) && all[i].before.trim().is_empty() && !unit;
    all[i].bare() && (part || manual && !before.has_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let mut names = Names::default();
        for name in [
            "IBM Power 570",
            "Sun SPARC Enterprise T5240",
            "Solaris 10",
            "gcc 4.4.0",
            "SPECjbb2005",
        ] {
            names.add(name);
        }
        names.day("2009-08-27");
        names.unit("bops");
        names
    }

    fn found(text: &str) -> Vec<&str> {
        find(text, &names(), false).into_iter().map(|f| &text[f.span]).collect()
    }

    fn results(text: &str) -> Vec<&str> {
        find(text, &names(), false)
            .into_iter()
            .filter(|f| f.result)
            .map(|f| &text[f.span])
            .collect()
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
            ("٣٤ requests", vec!["٣٤"]),
            ("五十パーセント", vec!["五十パーセント"]),
            ("X% better", vec!["X%"]),
            ("999999 bops", vec!["999999"]),
            ("nine-tenths", vec!["nine-tenths"]),
            ("three dozen", vec!["three dozen"]),
        ] {
            assert_eq!(found(text), wanted, "{text}");
            assert_eq!(results(text).len(), wanted.len(), "all are results: {text}");
        }
    }

    #[test]
    fn names_days_and_sections_are_none() {
        for text in [
            "The T5240 and the Power 570 under Solaris 10, August 2009.",
            "On 27 August 2009 and 2009-08-27, in 2009, with GCC 4.4.0.",
            "Step 3 of section 2.1, figure 4.",
            "SPECjbb2005 on x86.",
            "One of them, no one.",
            "It reads by read(2), several times, in random order.",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
        assert!(find("1. Method", &names(), true).is_empty());
        assert_eq!(found("Power 571 and T9999"), ["571", "T9999"], "the data do not know them");
        assert!(results("The Power 571 and the T9999 on two disks").is_empty());
        assert_eq!(found("Power 570 percent"), ["570 percent"]);
        assert_eq!(found("May 50% and in 2009 bops"), ["50%", "2009"]);
        assert_eq!(found("step 3 times"), ["3"]);
    }
}
