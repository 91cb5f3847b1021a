//! The columns of numbers in the tables of a text, with their means and sums.

use crate::read::document::Document;
use crate::read::source::Span;
use crate::read::table::{Shape, Table};

/// A mean or total of a column.
pub(crate) struct Column {
    pub name: String,
    pub mean: f64,
    pub sum: f64,
    pub rows: usize,
    pub span: Span,
}

/// The columns of numbers in a text's tables, at most 400.
pub(crate) fn columns(document: &Document<'_>) -> Vec<Column> {
    let mut found = Vec::new();
    for table in document.tables.iter().filter(|t| t.shape != Shape::Histogram && t.rows.len() >= 3)
    {
        for c in 0..table.columns.len().min(40) {
            let values: Vec<f64> =
                (0..table.rows.len()).filter_map(|r| table.number(r, c)).map(|(v, _)| v).collect();
            if values.len() >= 3 && values.len() == table.rows.len() {
                let sum: f64 = values.iter().sum();
                found.push(Column {
                    name: named(table, c),
                    mean: sum / values.len() as f64,
                    sum,
                    rows: values.len(),
                    span: table.span,
                });
            }
        }
        if found.len() > 400 {
            break;
        }
    }
    found
}

/// A column by its name; columns of one name are distinguished by the one before.
fn named(table: &Table, column: usize) -> String {
    let name = &table.columns[column];
    let twins = table.columns.iter().filter(|c| *c == name).count();
    match column.checked_sub(1).map(|p| &table.columns[p]) {
        Some(before) if twins > 1 && before != name => format!("{before} {name}"),
        _ => name.clone(),
    }
}
