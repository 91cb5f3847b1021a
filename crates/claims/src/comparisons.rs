//! Sentences and columns of a text that compare.

use std::ops::Range;

use serde::Serialize;

use crate::document::Document;
use crate::tables::blocks::BlockKind;
use crate::tables::{Table, is_numeric, normalized};

/// Words that make a sentence a comparison.
const COMPARING: &str = "\
    ahead average beat beats behind best better compared decrease double fastest faster fewer \
    first gain half higher highest improvement increase larger least less lower lowest more \
    most outperforms percent ratio record reduction saves slower slowest smaller than times \
    tops triple twice versus vs wins winner worse worst x";

/// Words in the title of a column that compares.
const RATIOS: &str = "\
    ratio speedup speed-up relative vs versus change delta difference improvement gain times";

/// Abbreviations whose point does not end a sentence.
const ABBREVIATIONS: [&str; 8] = ["vs", "e.g", "i.e", "eg", "ie", "approx", "no", "fig"];

/// A sentence or a column that compares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Line number in the text.
    pub line: usize,
    /// The sentence with white space normalized, or the title of the column.
    pub quote: String,
    /// Name of the table, for a column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
}

/// A comparison with its place.
pub(crate) struct PlacedComparison {
    pub comparison: Comparison,
    /// Block and range of a sentence.
    pub sentence: Option<(usize, Range<usize>)>,
    /// Index of a column in its table.
    pub column: Option<usize>,
}

/// Returns the sentences and columns of a text that compare, in the order of the text.
pub fn comparisons(document: &Document, tables: &[Table]) -> Vec<Comparison> {
    places(document, tables).into_iter().map(|p| p.comparison).collect()
}

/// Returns the comparisons of a text with their places.
pub(crate) fn places(document: &Document, tables: &[Table]) -> Vec<PlacedComparison> {
    let mut out = Vec::new();
    for (at, block) in document.blocks.iter().enumerate() {
        if block.kind != BlockKind::Prose {
            continue;
        }
        for range in sentences(&block.text) {
            let text = &block.text[range.clone()];
            if compares(text) {
                let (line, quote) = (block.line(range.start), normalized(text));
                let comparison = Comparison { line, quote, table: None };
                out.push(PlacedComparison {
                    comparison,
                    sentence: Some((at, range)),
                    column: None,
                });
            }
        }
    }
    for table in tables {
        for (i, column) in table.columns.iter().enumerate().skip(1) {
            let numbers = table.rows.iter().filter(|r| r.cells[i].number.is_some()).count();
            let title = column.title.to_lowercase();
            let ratio =
                words(&title).any(|w| RATIOS.split(' ').any(|r| r == w)) || title.contains('%');
            if ratio && numbers > 0 && 2 * numbers >= table.rows.len() {
                let (line, quote) = (table.line, column.title.clone());
                let comparison = Comparison { line, quote, table: Some(table.name.clone()) };
                out.push(PlacedComparison { comparison, sentence: None, column: Some(i) });
            }
        }
    }
    out.sort_by_key(|p| p.comparison.line);
    out
}

/// Splits a text into words, without the punctuation around them.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '%' | '-' | '.' | '\'');
    text.split(move |c: char| !inner(c))
        .map(|w| w.trim_matches(|c: char| matches!(c, '-' | '.' | '\'')))
        .filter(|w| !w.is_empty())
}

/// Returns true if a sentence contains a comparing word, a percentage or a factor.
fn compares(text: &str) -> bool {
    words(text).any(|word| {
        let lower = word.to_lowercase();
        let counted = is_numeric(&lower) && lower.ends_with(['%', 'x', '\u{d7}']);
        counted || COMPARING.split(' ').any(|c| c == lower)
    })
}

/// Returns the ranges of the sentences in a block.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let after = &text[at + c.len_utf8()..];
        let next = after.trim_start().chars().next();
        let ends = matches!(c, '.' | '!' | '?' | '\u{3002}' | '\u{61f}')
            && after.starts_with(char::is_whitespace)
            && next.is_some_and(|n| !n.is_lowercase());
        let last = text[start..at].rsplit(char::is_whitespace).next().unwrap_or("");
        let last = last.trim_start_matches('(').to_lowercase();
        if ends && !(c == '.' && ABBREVIATIONS.contains(&last.as_str())) {
            out.push(start..at + c.len_utf8());
            start = at + c.len_utf8();
        }
    }
    out.push(start..text.len());
    let trimmed = out.into_iter().map(|r| {
        let own = &text[r.clone()];
        let start = r.start + (own.len() - own.trim_start().len());
        start..start + own.trim().len()
    });
    trimmed.filter(|r| !r.is_empty()).collect()
}
