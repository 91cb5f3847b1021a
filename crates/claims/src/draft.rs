//! Writes a claims file to fill in, with the sentences and columns that compare. A binding is
//! proposed only if the sentence contains both names, the metric and the number word by word, a
//! single table has them, and the recomputed value agrees. No other sentence is interpreted.

use std::fmt::Write;
use std::ops::Range;

use crate::comparisons::{Comparison, places, words};
use crate::document::Document;
use crate::evaluate::Evaluate;
use crate::judge::{ClaimVerdict, verdict};
use crate::number::{NumberFormat, parse_with_unit};
use crate::stated_value::said;
use crate::tables::Table;

/// Words that prevent a proposal: another direction, a condition, a hedge.
const UNCERTAIN: &str = "\
    about almost around at claims could decrease expected fewer if less lower may might nearly \
    never no not only or reduction roughly should slower smaller target under unless up \
    without worse would";

/// A quoted result to which a draft may bind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultName {
    /// Id in the quoted results.
    pub id: String,
    /// Name of the system.
    pub system: String,
    /// Name of the metric.
    pub metric: String,
}

/// Writes a claims file with every comparison of a text. Bindings without a proposal have an empty
/// `is`, so that they are not checked.
pub fn draft(
    document: &Document,
    tables: &[Table],
    results: &[ResultName],
    evaluator: &dyn Evaluate,
) -> String {
    let name = document.name.rsplit('/').next().unwrap_or(&document.name);
    let mut out = format!("format = 1\ntext = {}\n", quoted(name));
    let quotes = document.quotes();
    for place in places(document, tables) {
        let Comparison { line, quote, table } = &place.comparison;
        let _ = write!(out, "\n# line {line}\n[[claim]]\nquote = {}\n", quoted(quote));
        if let Some(table) = table {
            let _ = write!(out, "table = {}\ncolumn = {}\nis = ''\n", quoted(table), quoted(quote));
            continue;
        }
        let found = quotes.find(quote);
        let own = |p: &crate::document::QuotePlace| match (&place.sentence, p.block) {
            (Some((block, range)), Some((at, offset))) => *block == at && range.start == offset,
            _ => false,
        };
        if found.len() > 1
            && let Some(at) = found.iter().position(own)
        {
            let _ = writeln!(out, "occurrence = {}", at + 1);
        }
        let (says, is) = proposal(quote, tables, results, evaluator).unwrap_or_default();
        let _ = write!(out, "says = {}\nis = {}\n", quoted(&says), quoted(&is));
    }
    out
}

/// Formats a text as a TOML string.
fn quoted(text: &str) -> String {
    if text.contains(['\'', '\n']) || text.chars().any(char::is_control) {
        toml::Value::from(text).to_string()
    } else {
        format!("'{text}'")
    }
}

/// Two names and a metric from a sentence, as operands of an expression.
struct OperandPair {
    subject: String,
    baseline: String,
}

/// Returns `says` and `is` for a sentence that names everything needed.
fn proposal(
    sentence: &str,
    tables: &[Table],
    results: &[ResultName],
    evaluator: &dyn Evaluate,
) -> Option<(String, String)> {
    if words(sentence).any(|w| UNCERTAIN.split(' ').any(|u| u == w.to_lowercase())) {
        return None;
    }
    let says = only(claimed(sentence))?;
    let than = only(sentence.match_indices(" than ").map(|(i, _)| i))?;
    let mut pairs: Vec<OperandPair> =
        tables.iter().filter_map(|t| in_table(sentence, than, t)).collect();
    let mut metrics: Vec<&str> = results.iter().map(|r| r.metric.as_str()).collect();
    metrics.sort_unstable();
    metrics.dedup();
    if let Some(metric) = only(metrics.into_iter().filter(|m| stands(sentence, m).is_some())) {
        let own: Vec<&ResultName> = results.iter().filter(|r| r.metric == metric).collect();
        let names: Vec<&str> = own.iter().map(|r| r.system.as_str()).collect();
        pairs.extend(ordered(sentence, than, &names).map(|(a, b)| OperandPair {
            subject: quoted_double(&own[a].id),
            baseline: quoted_double(&own[b].id),
        }));
    }
    let pair = only(pairs)?;
    let functions: &[&str] = if says.ends_with('%') { &["better", "more"] } else { &["times"] };
    let claimed = said(&says).ok()?;
    let is = functions.iter().find_map(|function| {
        let is = format!("{function}({}, than={})", pair.subject, pair.baseline);
        let computed = evaluator.evaluate(&is, None).ok()?;
        let (verdict, _) = verdict(&claimed, None, &computed).ok()?;
        (verdict == ClaimVerdict::Holds).then_some(is)
    })?;
    Some((says, is))
}

fn only<T>(items: impl IntoIterator<Item = T>) -> Option<T> {
    let mut items = items.into_iter();
    let first = items.next()?;
    items.next().is_none().then_some(first)
}

/// Returns the percentages and factors in a sentence in the syntax of `says`.
fn claimed(sentence: &str) -> Vec<String> {
    let words: Vec<&str> = words(sentence).collect();
    let mut out = Vec::new();
    for (i, word) in words.iter().enumerate() {
        let Some((number, unit)) = parse_with_unit(word, NumberFormat::default()) else { continue };
        let unit = unit.as_deref().or(words.get(i + 1).copied()).unwrap_or("");
        match unit {
            "%" | "percent" => out.push(format!("{} %", number.text)),
            "x" | "X" | "\u{d7}" | "times" => out.push(format!("{} times", number.text)),
            _ => {}
        }
    }
    out
}

/// Returns the operands for a sentence that names the metric and two rows of a table.
fn in_table(sentence: &str, than: usize, table: &Table) -> Option<OperandPair> {
    let metric = only((1..table.columns.len()).filter(|i| {
        table.rows.iter().any(|r| r.cells[*i].number.is_some())
            && stands(sentence, &table.columns[*i].title).is_some()
    }))?;
    let names: Vec<&str> = table.rows.iter().map(|r| r.name.as_str()).collect();
    let (a, b) = ordered(sentence, than, &names)?;
    let title = &table.columns[metric].title;
    let operand = |row: usize| {
        let (table, row) = (quoted_double(&table.name), quoted_double(names[row]));
        format!("cell({table}, row={row}, column={})", quoted_double(title))
    };
    Some(OperandPair { subject: operand(a), baseline: operand(b) })
}

/// Returns the indices of the two names in a sentence, one before `than` and one after it. `None`
/// if there is a third name, or if a name is ambiguous.
fn ordered(sentence: &str, than: usize, names: &[&str]) -> Option<(usize, usize)> {
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    for (i, name) in names.iter().enumerate() {
        if let Some(at) = stands(sentence, name) {
            found.push((at..at + name.len(), i));
        }
    }
    // A name inside a longer one does not count.
    let inside =
        |a: &Range<usize>, b: &Range<usize>| a != b && b.start <= a.start && a.end <= b.end;
    let all = found.clone();
    found.retain(|(range, _)| !all.iter().any(|(other, _)| inside(range, other)));
    found.sort_by_key(|(range, _)| range.start);
    match found.as_slice() {
        [(a, subject), (b, baseline)] if a.end <= than && than < b.start => {
            Some((*subject, *baseline))
        }
        _ => None,
    }
}

/// Returns the place of words that occur exactly once in a sentence, as whole words.
fn stands(sentence: &str, words: &str) -> Option<usize> {
    if words.chars().count() < 2 || !words.contains(char::is_alphabetic) {
        return None;
    }
    let free = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '-' && c != '/');
    only(sentence.match_indices(words).map(|(at, _)| at).filter(|at| {
        free(sentence[..*at].chars().next_back())
            && free(sentence[at + words.len()..].chars().next())
    }))
}

/// Formats a text in double quotes in the syntax of expressions.
fn quoted_double(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
