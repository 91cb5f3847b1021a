//! Histograms with a bar of signs a bucket, and lines of a log that have the same words and other
//! numbers.

use std::ops::Range;

use super::{Cell, Row, Shape, Table, cell};
use crate::read::line::Line;
use crate::read::source::Span;

pub(crate) fn read(text: &str, region: &[Line]) -> Option<Vec<(Table, Range<usize>)>> {
    histogram(text, region).or_else(|| log(text, region))
}

/// `4096 |@@@@   1324`: the lower bound of a bucket, its bar, its count.
fn histogram(text: &str, region: &[Line]) -> Option<Vec<(Table, Range<usize>)>> {
    let mut rows = Vec::new();
    let mut first = None;
    let mut last = 0;
    for (i, line) in region.iter().enumerate() {
        let Some(row) = bucket(text, line.span) else { continue };
        first.get_or_insert(i);
        last = i;
        rows.push(row);
    }
    let first = first?;
    if rows.len() < 3 {
        return None;
    }
    let span = Span::new(region[first].span.start, region[last].span.end);
    let title = Span::new(region[0].span.start, region[first].span.start);
    let columns = vec!["value".to_owned(), "count".to_owned()];
    Some(vec![(Table { shape: Shape::Histogram, span, title, columns, rows }, 0..last + 1)])
}

fn bucket(text: &str, line: Span) -> Option<Row> {
    let body = line.of(text);
    let (left, right) = body.split_once('|')?;
    let bar = right.find(|c: char| !matches!(c, '@' | '#' | '*'))?;
    let value_start = left.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let trimmed = left.trim_end();
    let value_start = if value_start >= trimmed.len() {
        trimmed.rfind(char::is_whitespace).map_or(0, |at| at + 1)
    } else {
        value_start
    };
    let value = cell(text, Span::new(line.start + value_start, line.start + trimmed.len()));
    let count = cell(text, Span::new(line.start + left.len() + 1 + bar, line.end));
    (value.number.is_some() && count.number.is_some()).then(|| Row {
        span: line,
        label: value.text.clone(),
        cells: vec![value, count],
    })
}

/// A line of a log: its words, the names of its numbers, and these.
type Named = (String, Vec<String>, Vec<Cell>);

/// At least three lines in a row with one skeleton of words and two or more numbers with names.
fn log(text: &str, region: &[Line]) -> Option<Vec<(Table, Range<usize>)>> {
    let parsed: Vec<Option<Named>> =
        region.iter().map(|line| named_numbers(text, line.span)).collect();
    let mut best: Range<usize> = 0..0;
    let mut at = 0;
    while at < parsed.len() {
        let mut end = at + 1;
        if let Some((skeleton, names, _)) = &parsed[at]
            && names.len() >= 2
        {
            while end < parsed.len() && parsed[end].as_ref().is_some_and(|(s, _, _)| s == skeleton)
            {
                end += 1;
            }
            if end - at > best.len() {
                best = at..end;
            }
        }
        at = end;
    }
    if best.len() < 3 {
        return None;
    }
    let columns = parsed[best.start].as_ref()?.1.clone();
    let rows = best.clone().filter_map(|i| {
        let (_, _, cells) = parsed[i].clone()?;
        Some(Row { span: region[i].span, label: String::new(), cells })
    });
    let span = Span::new(region[best.start].span.start, region[best.end - 1].span.end);
    let title = Span::new(span.start, span.start);
    Some(vec![(Table { shape: Shape::Log, span, title, columns, rows: rows.collect() }, best)])
}

/// The numbers of a line that follow `name:` or `name=`, with the words of the line.
fn named_numbers(text: &str, line: Span) -> Option<Named> {
    let body = line.of(text);
    if body.len() > 400 {
        return None;
    }
    let mut skeleton = String::new();
    let mut names = Vec::new();
    let mut cells = Vec::new();
    // The last word, and whether a colon or an equals sign came behind it.
    let mut word: Option<(&str, bool)> = None;
    let mut at = 0;
    for piece in body.split_inclusive(|c: char| c.is_whitespace() || matches!(c, ',' | '=')) {
        let start = at;
        at += piece.len();
        let core =
            piece.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '=' | ':'));
        let marked = piece[core.len()..].contains([':', '=']);
        if core.is_empty() {
            word = word.map(|(name, seen)| (name, seen || marked));
            continue;
        }
        let found = cell(text, Span::new(line.start + start, line.start + start + core.len()));
        if found.number.is_some() {
            if let Some((name, true)) = word.take() {
                names.push(name.to_owned());
                cells.push(found);
            }
        } else if core.starts_with(|c: char| c.is_alphabetic()) {
            let name = core.trim_start_matches(':');
            skeleton.push_str(name);
            skeleton.push(' ');
            word = Some((name, marked));
        }
    }
    Some((skeleton, names, cells))
}
