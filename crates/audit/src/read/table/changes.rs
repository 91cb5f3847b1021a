//! Lists of changes: `APK size: 24.6 MB -> 18.2 MB`, `Boot: 22 s before, 5.5 s now`, `Reload: 0.8 s (was 6.4 s)`. Each
//! run of lines is a table with the columns before and after.

use super::tools::grid;
use super::{Table, cell};
use crate::evidence::amount;
use crate::read::line::Line;
use crate::read::source::Span;

/// A line that tells of a change: what changed, from what, to what, and whether it says nothing else.
struct Change {
    name: Span,
    before: Value,
    after: Value,
    whole: bool,
}

/// A value in a line; where its unit stands at the other one, that unit.
#[derive(Clone)]
struct Value {
    span: Span,
    unit: Option<String>,
}

const ARROWS: [&str; 8] = ["-->", "==>", "->", "=>", "→", "⇒", "➜", "⟶"];
const BEFORE: [&str; 6] = ["before", "earlier", "previously", "formerly", "then", "old"];
const AFTER: [&str; 6] = ["after", "afterwards", "now", "today", "new", "since"];

/// The tables of changes among the lines of a text, each with its lines and those of them that say nothing else.
pub(super) fn read(text: &str, lines: &[Line]) -> Vec<(Table, Vec<usize>, Vec<usize>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let run = lines[at..].iter().take_while(|l| !l.blank && !l.fence).count();
        let changes: Vec<(usize, Change)> = (at..at + run)
            .filter_map(|i| change(text, &lines[i]).map(|change| (i, change)))
            .collect();
        if changes.len() > 1 {
            found.extend(table(text, lines, &changes));
        }
        at += run.max(1);
    }
    found
}

fn table(
    text: &str,
    lines: &[Line],
    changes: &[(usize, Change)],
) -> Option<(Table, Vec<usize>, Vec<usize>)> {
    let columns = ["", "before", "after"].map(str::to_owned).to_vec();
    let rows = changes.iter().map(|(i, c)| {
        let name = c.name.of(text).trim_matches(['*', '`', '_', ' ', ':']).to_owned();
        (lines[*i].span, name, vec![Some(c.before.span), Some(c.after.span)])
    });
    let mut table = grid(text, columns, rows.collect())?;
    for (row, (_, change)) in table.rows.iter_mut().zip(changes) {
        for (own, value) in row.cells.iter_mut().skip(1).zip([&change.before, &change.after]) {
            if let Some(unit) = &value.unit {
                own.text = format!("{} {unit}", own.text);
            }
        }
    }
    let all = changes.iter().map(|(i, _)| *i).collect();
    let whole = changes.iter().filter(|(_, c)| c.whole).map(|(i, _)| *i).collect();
    Some((table, all, whole))
}

fn change(text: &str, line: &Line) -> Option<Change> {
    let body = Span::new(line.span.start + line.bullet, line.span.end);
    let words = body.of(text);
    if words.len() > 200 || words.contains('|') || line.hashes > 0 {
        return None;
    }
    let made = by_arrow(text, body)
        .or_else(|| by_words(text, body))
        .or_else(|| by_was(text, body))
        .or_else(|| by_from(text, body).filter(|_| line.bullet > 0))?;
    let mut made = made;
    // "Kernel rewritten. Batch 32: 12 ms -> 8 ms": sentences before it are not of the name.
    if let Some(at) = made.name.of(text).rfind(". ") {
        made.name.start += at + 2;
    }
    let name = made.name.of(text).trim();
    let letters = name.chars().any(char::is_alphabetic);
    let fits = letters && name.len() <= 70 && !name.contains(" = ");
    let both = |v: &Value| amount::of_cell(&printed(text, v), None).map(|(a, _)| a.dimension());
    (fits && both(&made.before)?.fits(both(&made.after)?)).then_some(made)
}

fn printed(text: &str, value: &Value) -> String {
    let own = cell(text, value.span).text;
    value.unit.as_ref().map_or(own.clone(), |unit| format!("{own} {unit}"))
}

/// `name: A -> B`.
fn by_arrow(text: &str, body: Span) -> Option<Change> {
    let words = body.of(text);
    let (at, arrow) = ARROWS.iter().find_map(|a| Some((words.find(a)?, a.len())))?;
    let left = Span::new(body.start, body.start + at);
    let right = Span::new(body.start + at + arrow, body.end);
    let (name, before) = last_value(text, left)?;
    let (after, rest) = first_value(text, right)?;
    Some(joined(text, name, before, after, rest))
}

/// `name: A before, B after`.
fn by_words(text: &str, body: Span) -> Option<Change> {
    let (name, values) = named(text, body)?;
    let (before, rest) = first_value(text, values)?;
    let own = rest.of(text);
    let (word, behind) = own.trim_start().split_once([',', ';'])?;
    let at = rest.end - behind.len();
    let (after, rest) = first_value(text, Span::new(at, rest.end))?;
    let then = rest.of(text).trim_start();
    let ends = then.find(|c: char| !c.is_alphabetic()).unwrap_or(then.len());
    if !BEFORE.contains(&word.trim()) || !AFTER.contains(&&then[..ends]) {
        return None;
    }
    let rest = Span::new(rest.end - then.len() + ends, rest.end);
    Some(joined(text, name, before, after, rest))
}

/// `name: B (was A)`.
fn by_was(text: &str, body: Span) -> Option<Change> {
    let (name, values) = named(text, body)?;
    let (after, rest) = first_value(text, values)?;
    let own = rest.of(text).trim_start();
    let was =
        ["(was ", "(before: ", "(previously ", "(from ", ", was ", "(down from ", "(up from "]
            .iter()
            .find_map(|w| own.strip_prefix(w))?;
    let (before, rest) = first_value(text, Span::new(rest.end - was.len(), rest.end))?;
    Some(joined(text, name, before, after, rest))
}

/// `name went from A to B`.
fn by_from(text: &str, body: Span) -> Option<Change> {
    let words = body.of(text);
    let at = words.find(" from ")?;
    let from = Span::new(body.start + at + 6, body.end);
    let (before, rest) = first_value(text, from)?;
    let to = rest.of(text).trim_start().strip_prefix("to ")?;
    let (after, rest) = first_value(text, Span::new(rest.end - to.len(), rest.end))?;
    let name = words[..at].trim_end();
    // The verb is no part of the name.
    let name = name.rsplit_once(' ').map_or(name, |(name, _)| name);
    let name = Span::new(body.start, body.start + name.len());
    let mut change = joined(text, name, before, after, rest);
    change.whole = false;
    Some(change)
}

/// What stands before a colon, and behind it.
fn named(text: &str, body: Span) -> Option<(Span, Span)> {
    let words = body.of(text);
    let at = words.find(": ").or_else(|| words.find(":** "))?;
    Some((
        Span::new(body.start, body.start + at),
        Span::new(body.start + at + words[at..].find(' ')?, body.end),
    ))
}

fn joined(text: &str, name: Span, mut before: Value, after: Value, rest: Span) -> Change {
    // "24.6 -> 18.2 MB"
    let unit = |v: &Value| {
        let own = v.span.of(text).trim();
        own.find(|c: char| c.is_alphabetic() || c == '%').map(|at| own[at..].to_owned())
    };
    if unit(&before).is_none() {
        before.unit = unit(&after);
    }
    let whole = !rest.of(text).contains(char::is_alphanumeric);
    Change { name, before, after, whole }
}

/// The value at the end of words, and what is before it.
fn last_value(text: &str, span: Span) -> Option<(Span, Value)> {
    let words = span.of(text).trim_end();
    let mut starts: Vec<usize> =
        words.match_indices([' ', '\u{a0}']).map(|(i, m)| i + m.len()).collect();
    starts.reverse();
    starts.truncate(4);
    starts.extend(words.rfind(['\t']).map(|i| i + 1));
    let mut best = None;
    for start in starts {
        let own = &words[start..];
        if starts_value(own) {
            let length = value_length(own)?;
            // "4 min 10 s" begins further left than "10 s", "10 KB" does not.
            if best.is_some() && length < own.trim_end_matches(['*', '`', ',']).len() {
                break;
            }
            let value = Span::new(span.start + start, span.start + start + length);
            best = Some((Span::new(span.start, value.start), Value { span: value, unit: None }));
        }
    }
    best
}

/// The value at the beginning of words, and what is behind it.
fn first_value(text: &str, span: Span) -> Option<(Value, Span)> {
    let words = span.of(text);
    let own = words.trim_start_matches([' ', '*', '`', '\u{a0}', '\t']);
    let start = span.end - own.len();
    if !starts_value(own) {
        return None;
    }
    let length = value_length(own)?;
    let value = Value { span: Span::new(start, start + length), unit: None };
    let rest = Span::new(start + length, span.end);
    // "431 packages": what is counted is no part of the value.
    let noun = rest.of(text).trim_start();
    let ends = noun.find(|c: char| !c.is_alphabetic()).unwrap_or(noun.len());
    let counted = ends > 2
        && !BEFORE.contains(&&noun[..ends])
        && !AFTER.contains(&&noun[..ends])
        && noun[ends..].trim_end_matches(['.', ',', ';']).trim().is_empty();
    let rest = if counted { Span::new(rest.end, rest.end) } else { rest };
    Some((value, rest))
}

fn starts_value(words: &str) -> bool {
    words
        .trim_start_matches(['$', '€', '£', '~', '≈', '-', '−', '+', '*', '`'])
        .starts_with(|c: char| c.is_ascii_digit())
}

/// How much of words is a value with its unit: the most of up to four words.
fn value_length(words: &str) -> Option<usize> {
    let stop = words.find(['(', ')', '[', ';']).unwrap_or(words.len());
    let words = &words[..stop];
    let mut ends: Vec<usize> = words.match_indices(' ').map(|(i, _)| i).take(4).collect();
    ends.push(words.len());
    ends.truncate(4);
    ends.reverse();
    ends.iter().find_map(|end| {
        let own = words[..*end].trim_end().trim_end_matches([',', '.', '*', '`', ':']);
        amount::of_cell(own, None).map(|_| own.len())
    })
}

#[cfg(test)]
mod tests {
    use crate::read::line::lines;

    fn rows(text: &str) -> Vec<(String, String, String)> {
        let found = super::read(text, &lines(text));
        let of = |t: &super::Table| {
            let rows = t.rows.iter();
            rows.map(|r| (r.label.clone(), r.cells[1].text.clone(), r.cells[2].text.clone()))
                .collect::<Vec<_>>()
        };
        found.iter().flat_map(|(t, ..)| of(t)).collect()
    }

    fn own(name: &str, before: &str, after: &str) -> (String, String, String) {
        (name.to_owned(), before.to_owned(), after.to_owned())
    }

    #[test]
    fn arrows_part_before_and_after() {
        assert_eq!(
            rows(
                "  APK size: 24.6 MB -> 18.2 MB\n  Methods in dex: 71,300 -> 58,900\n\
                 * ANR rate 0.47 % → 0.31 %\n- **Binary:** 24.6 → 18.2 MB (-26%)\n\
                 - Packages: 431 => 12 packages\n- Cost: $8,400 -> $10,920\n"
            ),
            [
                own("APK size", "24.6 MB", "18.2 MB"),
                own("Methods in dex", "71,300", "58,900"),
                own("ANR rate", "0.47 %", "0.31 %"),
                own("Binary", "24.6 MB", "18.2 MB"),
                own("Packages", "431", "12"),
                own("Cost", "8,400", "10,920"),
            ]
        );
    }

    #[test]
    fn words_part_before_and_after() {
        assert_eq!(
            rows(
                "- spill stores: 41,300 before, 17,150 after\n- TLS: 2,150/s before, 3,010/s now (+29%)\n\
                 - Reload: 0.8 s (was 6.4 s)\n- Startup went from 3.1 s to 1.9 s, which we like\n"
            ),
            [
                own("spill stores", "41,300", "17,150"),
                own("TLS", "2,150/s", "3,010/s"),
                own("Reload", "6.4 s", "0.8 s"),
                own("Startup", "3.1 s", "1.9 s"),
            ]
        );
    }

    #[test]
    fn names_are_one_sentence_and_times_several_numbers() {
        assert_eq!(
            rows(
                "- Kernel rewritten. Batch of 32: 12 ms -> 8 ms\n- Build: 22 min 4 s -> 5 min 10 s\n"
            ),
            [own("Batch of 32", "12 ms", "8 ms"), own("Build", "22 min 4 s", "5 min 10 s")]
        );
    }

    #[test]
    fn lines_that_say_more_stay_prose() {
        let text = "- A: 12 s -> 9 s\n- B: 14.2 ms → 9.3 ms, down 35%.\n";
        let found = super::read(text, &lines(text));
        assert_eq!(
            (found[0].1.as_slice(), found[0].2.as_slice()),
            ([0, 1].as_slice(), [0].as_slice())
        );
    }

    #[test]
    fn what_is_no_change_is_left_alone() {
        for text in [
            "fn f() -> u32 {\nfn g(a: u8) -> u64 {\n",
            "x -> 3\ny -> 4\n",
            "12 s -> 3 MB: no\n4 s -> 5 MB: no\n",
            "-> 1\n: 2 ->\n1 -> 2\n3 -> 4\n",
        ] {
            assert_eq!(rows(text), [], "{text}");
        }
    }
}
