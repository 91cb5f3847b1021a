//! Spreads beside values (`41.2 ± 0.9`): a column of their own behind the others.

use super::{Cell, Shape, Table, cell};
use crate::read::source::Span;

const SIGNS: [&str; 4] = ["±", "+/-", "+-", "\\pm"];

/// Adds a column of spreads for each column in which most values have one.
pub(super) fn add(text: &str, table: &mut Table) {
    if table.shape != Shape::Grid {
        return;
    }
    for column in 0..table.columns.len() {
        let found: Vec<Option<Span>> = table
            .rows
            .iter()
            .map(|r| r.cells.get(column).and_then(|c| behind(text, c.span)))
            .collect();
        if found.iter().flatten().count() * 2 <= table.rows.len() {
            continue;
        }
        let width = table.columns.len();
        for (row, span) in table.rows.iter_mut().zip(found) {
            row.cells.resize(width, Cell::default());
            row.cells.push(span.map_or_else(Cell::default, |s| cell(text, s)));
        }
        let name = format!("standard deviation of {}", table.columns[column]);
        table.columns.push(name.trim_end_matches(" of ").to_owned());
    }
}

/// What stands behind the sign of a spread, where a value stands before it.
fn behind(text: &str, span: Span) -> Option<Span> {
    let body = span.of(text);
    let (at, sign) = SIGNS.iter().find_map(|s| Some((body.find(s)?, *s)))?;
    let after = span.start + at + sign.len();
    let value = body[..at].trim_start_matches(['*', '`', '~', '$']);
    let spread = Span::new(after, span.end);
    let digit = |s: &str| s.trim().starts_with(|c: char| c.is_ascii_digit());
    (digit(value) && digit(spread.of(text))).then_some(spread)
}
