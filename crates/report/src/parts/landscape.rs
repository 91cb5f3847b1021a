//! A landscape: its table, the matrix of its denominators, and the notes for reading them.

use assay_model::MetricKind as Origin;
use assay_quoted::denominator::{Basis, Matrix, MatrixCell};
use assay_quoted::landscape::{ColumnRole, Landscape, LandscapeLine};

use crate::document::table::TableRow;
use crate::document::{DocumentPart, Parts, Table, TableCell, Tone, cell};

/// Placeholder for a value that was not printed or recorded.
const NOTHING: &str = "-";

/// Explanation of the marks in a matrix.
const MARKS: &str = "In brackets the place in the column; * behind a system that it is ahead of in \
                     total; - not recorded, so not ranked.";

/// Returns the tables and the findings.
pub fn results(landscape: &Landscape) -> Parts {
    let mut out = Parts::default();
    out.findings(&landscape.findings);
    if landscape.lines.is_empty() {
        out.push(DocumentPart::Paragraph(Tone::Warn, "No result is left to show.".into()));
    }
    let tables = landscape.tables();
    for (question, lines) in &tables {
        let several = tables.len() > 1;
        out.table(table(landscape, several.then_some(*question), lines));
    }
    out
}

/// Returns the caption of a table if the landscape has one for each of several questions.
pub fn caption(landscape: &Landscape, question: &str) -> String {
    let by = landscape.ordered_by.map(|b| format!("; the better {b} first")).unwrap_or_default();
    format!("{question}{}", by.replace(" in total", ""))
}

/// Returns a table with a row for every result.
fn table(landscape: &Landscape, question: Option<&str>, lines: &[&LandscapeLine]) -> Table {
    let ranked = landscape.ordered_by.is_some();
    let mixed = landscape.mixed();
    let mut table =
        Table::captioned(question.map_or_else(|| landscape.measure(), |q| caption(landscape, q)));
    if ranked {
        table = table.number("place");
    }
    if mixed {
        table = table.word("kind");
    }
    for c in &landscape.columns {
        table = if c.role == ColumnRole::Words {
            table.label(&c.title)
        } else {
            table.number(&c.title)
        };
    }
    for l in lines {
        let mut cells = Vec::new();
        if ranked {
            cells.push(cell(l.rank.map_or_else(|| NOTHING.to_owned(), |r| r.to_string())));
        }
        if mixed {
            cells.push(cell(l.kind.name()));
        }
        cells.extend(l.cells.iter().map(|c| {
            let title = c.as_ref().and_then(|c| c.formula.clone());
            TableCell { title, ..cell(c.as_ref().map_or(NOTHING, |c| c.text.as_str())) }
        }));
        let name = l.entry.as_ref().map_or(NOTHING, |e| e.label.as_str()).to_owned();
        table.rows.push(TableRow { name, cells, ..TableRow::default() });
    }
    table
}

/// Returns the systems by denominator; `unit` is the unit that is divided.
pub fn matrix(matrix: &Matrix, unit: &str, ordered_by: Option<Basis>) -> Parts {
    let mut table =
        Table::captioned(format!("{unit} by every denominator").trim_start()).label("system");
    for basis in &matrix.bases {
        let order = if ordered_by == Some(*basis) { " (ordered by)" } else { "" };
        table = table.number(&format!("{basis}{order}"));
    }
    table = table.word("leads");
    for r in &matrix.rows {
        let mut cells = vec![cell(r.label.clone())];
        cells.extend(r.cells.iter().map(|c| {
            let text = matrix_text(c.as_ref());
            let tone = if text.ends_with('*') { Tone::Warn } else { Tone::Plain };
            TableCell { title: c.as_ref().map(|c| c.quantity.formula()), tone, ..cell(text) }
        }));
        let tone = if r.dominates { Tone::Good } else { Tone::Plain };
        cells.push(cell(leads(r.leads, r.of, r.dominates)).tone(tone));
        table.rows.push(TableRow { name: r.label.clone(), cells, ..TableRow::default() });
    }
    let mut out = Parts::default();
    out.table(table);
    out.notes(matrix_notes(matrix));
    out
}

/// Formats a number of the matrix with its rank and mark: `26424 (13)*`.
pub(crate) fn matrix_text(cell: Option<&MatrixCell>) -> String {
    let Some(c) = cell else { return NOTHING.to_owned() };
    let value = c.quantity.text();
    let mark = if c.reversed { "*" } else { "" };
    c.rank.map_or_else(|| value.clone(), |rank| format!("{value} ({rank}){mark}"))
}

/// Formats `3 of 7` or `7 of 7, dominates`.
fn leads(leads: usize, of: usize, dominates: bool) -> String {
    let more = if dominates { ", dominates" } else { "" };
    format!("{leads} of {of}{more}")
}

/// Returns the notes below a matrix.
fn matrix_notes(matrix: &Matrix) -> Vec<String> {
    let mut out = vec![MARKS.to_owned()];
    if !matrix.missing.is_empty() {
        let names: Vec<String> =
            matrix.missing.iter().map(|d| Basis::Per(*d).to_string()).collect();
        out.push(format!("Recorded for no system: {}.", names.join(", ")));
    }
    if matrix.rows.iter().flat_map(|r| r.cells.iter().flatten()).any(|c| c.quantity.from_quoted()) {
        out.push(
            "What is divided is derived from quoted numbers, not printed by the source.".to_owned(),
        );
    }
    out
}

/// Returns the notes below a landscape: omissions, computed values, intervals and sources.
pub fn notes(landscape: &Landscape) -> Vec<String> {
    let mut out = Vec::new();
    let omissions = landscape.omissions().join(" ");
    if !omissions.is_empty() {
        out.push(omissions);
    }
    out.extend(landscape.derived());
    out.extend(
        landscape
            .lines
            .iter()
            .filter_map(Landscape::interval_note)
            .map(|note| format!("Measured: {note}.")),
    );
    if !landscape.note.is_empty() {
        out.push(landscape.note.clone());
    }
    let sources: Vec<String> = landscape
        .sources
        .iter()
        .map(|s| match (s.site.is_empty(), s.subject.is_empty()) {
            (true, _) => s.key.clone(),
            (false, true) => format!("{} ({}, {})", s.key, s.site, s.date),
            (false, false) => format!("{} ({}, {}: {})", s.key, s.site, s.date, s.subject),
        })
        .collect();
    if !sources.is_empty() && landscape.has(Origin::Quoted) {
        out.push(format!("Quoted from: {}.", sources.join("; ")));
    }
    if !landscape.trademark.is_empty() {
        out.push(landscape.trademark.clone());
    }
    out
}
