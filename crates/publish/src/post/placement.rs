//! Checks the positions of computed numbers. A number that touches a digit, a letter or a percent
//! sign reads as another number; one in a column of another metric or denominator reads as another
//! quantity; and a statement must be a sentence of its own.

use std::collections::BTreeSet;

use assay_quoted::denominator::Denominator;

use super::document::{ComputedNumber, Facts};
use super::error::Result;
use super::evaluator::Evaluator;
use super::typed::{NUMBER, Stretch, StretchKind, is_percent, unseen};

/// Characters that join digits to one number.
const JOINTS: &str = ".,:;'/^_-+*=~×÷·⁄∕−‐‑‒–±’‘′″٫٬\u{2006}\u{2009}\u{200a}\u{202f}";
const SIGNS: &str = "-+−‐‑‒–±﹣－＋";

/// Rejects numbers at positions where they would be misread.
pub(super) fn check(e: &Evaluator<'_>, all: &[Stretch]) -> Result<()> {
    let mut metrics: Option<BTreeSet<String>> = None;
    let mut read = vec![false; e.numbers.len()];
    for stretch in all {
        for (i, placed) in stretch.numbers.iter().enumerate() {
            let n = &e.numbers[placed.number];
            read[placed.number] = true;
            let refused = |message: String, help: &str| {
                Err(e.text.error(e.placed[&placed.number].clone(), message, help))
            };
            let before = &stretch.text[..placed.at];
            let after = &stretch.text[placed.at + NUMBER.len_utf8()..];
            if let Some(what) = touched(before, after) {
                let message =
                    format!("the computed `{}` touches {what}, so both look like one", n.text);
                return refused(message, "put a space or words between them");
            }
            if n.is_statement {
                let end = before.trim_end().chars().next_back();
                let previous = i.checked_sub(1).map(|i| &e.numbers[stretch.numbers[i].number]);
                let begins = match end {
                    Some(NUMBER) => previous.is_some_and(|n| n.is_statement),
                    end => end.is_none_or(|c| matches!(c, '.' | '!' | '?')),
                };
                let within = placed.within.or((!begins).then_some("a sentence"));
                if let Some(within) = within {
                    let help = "a statement is a whole sentence: put it on a line of its own or \
                        after a full stop";
                    return refused(format!("a statement cannot be in {within}"), help);
                }
            }
            if stretch.kind == StretchKind::Cell && !stretch.title.is_empty() {
                let known = metrics.get_or_insert_with(|| known(e));
                if let Some(other) = other(&stretch.title, n, known) {
                    let message = format!(
                        "`{}` is {}, and its column `{}` names {other}",
                        n.text,
                        n.facts.quantity(),
                        stretch.title.trim()
                    );
                    return refused(
                        message,
                        "move it to a column of its own, or rename the column",
                    );
                }
            }
        }
    }
    for (number, call) in &e.placed {
        if !read[*number] {
            let message = "a computed number is where nothing is printed";
            let help = "move it out of the address or the language of a block of code";
            return Err(e.text.error(call.clone(), message, help));
        }
    }
    Ok(())
}

/// Returns the character that a number touches on either side, described for a message.
fn touched(before: &str, after: &str) -> Option<String> {
    let back: Vec<char> =
        without_tags(before, true).chars().rev().filter(|c| is_seen(*c)).take(4).collect();
    let on: Vec<char> =
        without_tags(after, false).chars().filter(|c| is_seen(*c)).take(4).collect();
    let first = |side: &[char]| {
        side.first()
            .copied()
            .filter(|c| c.is_alphanumeric() || is_percent(*c) || is_combining(*c) || *c == NUMBER)
    };
    let joined = |side: &[char]| {
        let joints = side.iter().take_while(|c| JOINTS.contains(**c)).count();
        let beyond = side.get(joints).filter(|c| c.is_numeric() || **c == NUMBER);
        beyond.filter(|_| joints > 0).map(|_| side[0])
    };
    let signed = back.first().copied().filter(|c| SIGNS.contains(*c));
    let signed = signed.filter(|_| back.get(1).is_none_or(|c| !c.is_alphanumeric()));
    let next = on.iter().copied().find(|c| !c.is_whitespace());
    let found = first(&back)
        .or_else(|| first(&on))
        .or_else(|| joined(&back))
        .or_else(|| joined(&on))
        .or(signed)
        .or(next.filter(|c| is_percent(*c)))?;
    Some(if found == NUMBER { "another computed number".to_owned() } else { format!("`{found}`") })
}

/// Returns true for characters that a reader sees, and for those that combine with others.
fn is_seen(c: char) -> bool {
    !unseen(c) || is_combining(c)
}

fn is_combining(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// Returns one side of a number without the tags next to it, which an output might not show.
fn without_tags(mut side: &str, before: bool) -> &str {
    loop {
        let rest = if before {
            side.strip_suffix('>').and_then(|s| s.rsplit_once('<')).map(|(rest, _)| rest)
        } else {
            side.strip_prefix('<').and_then(|s| s.split_once('>')).map(|(_, rest)| rest)
        };
        match rest {
            Some(rest) => side = rest,
            None => return side,
        }
    }
}

/// Returns the metrics of the library and of the post's runs.
fn known(e: &Evaluator<'_>) -> BTreeSet<String> {
    let quoted = (0..e.library.len()).map(|at| e.library.result(at).metric.as_str());
    let measured =
        e.runs.values().flat_map(|v| v.analysis.summaries.iter().map(|s| s.metric.as_str()));
    quoted.chain(measured).map(words).filter(|m| m.len() > 1).collect()
}

/// Converts a text to words with one space before and after each.
fn words(text: &str) -> String {
    let mut out = " ".to_owned();
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            c if c.is_alphanumeric() || "_%/$".contains(c) => out.push(c),
            _ if !out.ends_with(' ') => out.push(' '),
            _ => {}
        }
    }
    if !out.ends_with(' ') {
        out.push(' ');
    }
    out
}

/// Returns the metric or denominator that the title of a column names, if it is not the number's.
fn other(title: &str, n: &ComputedNumber, known: &BTreeSet<String>) -> Option<String> {
    let title = words(title);
    let Facts { metric, subject, baseline, .. } = &n.facts;
    let own = words(&format!("{metric} {subject} {}", baseline.as_deref().unwrap_or_default()));
    for d in Denominator::ALL {
        let named = units(d).iter().any(|unit| {
            [
                format!(" per {unit} "),
                format!("/{unit} "),
                format!(" each {unit} "),
                format!(" a {unit} "),
            ]
            .iter()
            .any(|phrase| title.contains(phrase.as_str()) && !own.contains(phrase.as_str()))
        });
        // A title of one word, such as `watts`, is the unit of the cells.
        let one = title.trim().trim_end_matches('s');
        let only = units(d).contains(&one) && !own.contains(&format!(" {one}"));
        if (named || only) && n.facts.denominator.as_deref() != Some(d.name()) {
            return Some(format!("the denominator {}", d.name()));
        }
    }
    let named = known.iter().filter(|m| title.contains(m.as_str()));
    let metric = named.max_by_key(|m| m.len()).filter(|m| !own.contains(m.as_str()))?;
    Some(format!("the metric {}", metric.trim()))
}

/// Returns the words for one unit of a denominator.
fn units(of: Denominator) -> &'static [&'static str] {
    match of {
        Denominator::Chip => &["chip", "socket", "processor", "cpu"],
        Denominator::Core => &["core"],
        Denominator::Thread => &["thread"],
        Denominator::Instance => &["instance", "jvm"],
        Denominator::CoreGhz => &["core ghz", "core x ghz", "ghz"],
        Denominator::Watt => &["watt", "w"],
        Denominator::RackUnit => &["rack unit", "ru", "u"],
        Denominator::Price => &["price", "dollar", "usd", "$", "euro"],
    }
}
