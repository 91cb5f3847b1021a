//! Tests over whole texts: tables, verdicts, drafts and broken input.

mod arithmetic;
mod bad_input;
mod reading;
mod texts;
mod verdicts;

use std::fmt::Write;

use crate::{Document, Table};

fn document(name: &str, text: &str) -> Document {
    Document::read(name, text).unwrap()
}

fn tables(name: &str, text: &str) -> Vec<Table> {
    document(name, text).tables(&[]).unwrap()
}

/// Formats a table as lines: its name, line and titles, then its cells.
fn shown(table: &Table) -> String {
    let titles: Vec<&str> = table.columns.iter().map(|c| c.title.as_str()).collect();
    let mut out = format!("{} line {}: {}\n", table.name, table.line, titles.join(" | "));
    for row in &table.rows {
        let cells: Vec<&str> = row.cells.iter().map(|c| c.text.as_str()).collect();
        let _ = writeln!(out, "{}: {}", row.line, cells.join(" | "));
    }
    out
}
