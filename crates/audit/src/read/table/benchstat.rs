//! What benchstat prints: names of files between bars over a line of units, or the columns old, new and delta of its
//! first version.

use std::ops::Range;

use super::Table;
use super::tools::{grid, words};
use crate::read::line::Line;
use crate::read::source::Span;

/// A row: its line, its name, its cells.
type Cells = (Span, String, Vec<Option<Span>>);

/// The table in a region of lines.
pub(super) fn read(text: &str, region: &[Line]) -> Option<(Table, Range<usize>)> {
    files(text, region).or_else(|| deltas(text, region))
}

/// Rows under a header of files between bars, with a line of units (`sec/op`).
fn files(text: &str, region: &[Line]) -> Option<(Table, Range<usize>)> {
    let units = region.iter().position(|l| {
        let body = l.span.of(text);
        body.contains('│') && body.contains("/op") || body.contains('│') && body.contains("/s ")
    })?;
    let header = units.checked_sub(1).map(|h| region[h].span.of(text))?;
    let names: Vec<&str> = header.split('│').map(str::trim).filter(|n| !n.is_empty()).collect();
    let of: Vec<&str> = region[units]
        .span
        .of(text)
        .split('│')
        .skip(1)
        .filter_map(|p| p.split_whitespace().next())
        .collect();
    if names.is_empty() || of.len() < names.len() {
        return None;
    }
    let mut columns = vec![String::new()];
    columns.extend(names.iter().zip(&of).map(|(n, u)| format!("{n} ({u})")));
    columns.push("vs base".to_owned());
    let (rows, last) = rows(text, region, units, names.len());
    Some((grid(text, columns, rows)?, units.saturating_sub(1)..last + 1))
}

/// `name   old time/op   new time/op   delta`.
fn deltas(text: &str, region: &[Line]) -> Option<(Table, Range<usize>)> {
    let header = region.iter().position(|l| {
        let names: Vec<&str> = words(text, l).iter().map(|w| w.of(text)).collect();
        matches!(names[..], ["name", "old", old, "new", new, "delta"] if old == new)
    })?;
    let of = words(text, &region[header])[2].of(text).to_owned();
    let columns =
        [String::new(), format!("old {of}"), format!("new {of}"), "vs base".to_owned()].to_vec();
    let (rows, last) = rows(text, region, header, 2);
    Some((grid(text, columns, rows)?, header..last + 1))
}

/// The rows behind a header, with so many values and a change, and the last of their lines.
fn rows(text: &str, region: &[Line], header: usize, values: usize) -> (Vec<Cells>, usize) {
    let mut rows = Vec::new();
    let mut last = header;
    for (i, line) in region.iter().enumerate().skip(header + 1) {
        let words = words(text, line);
        let Some(name) =
            words.first().map(|w| w.of(text)).filter(|n| !n.starts_with(['│', '¹', '²']))
        else {
            continue;
        };
        let mut cells: Vec<Option<Span>> = Vec::new();
        let mut change = None;
        for own in &words[1..] {
            let word = own.of(text);
            if word.starts_with(['-', '+']) && word.ends_with('%') {
                change = Some(*own);
                break;
            }
            if word.starts_with(|c: char| c.is_ascii_digit()) && !word.ends_with('%') {
                cells.push(Some(*own));
            }
            if word == "~" {
                break;
            }
        }
        if cells.is_empty() {
            continue;
        }
        cells.truncate(values);
        cells.resize(values, None);
        cells.push(change);
        rows.push((line.span, name.to_owned(), cells));
        last = i;
    }
    (rows, last)
}
