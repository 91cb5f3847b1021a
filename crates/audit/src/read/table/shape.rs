//! What tables come out as: columns with names, rows with a label, cells with a number.

use crate::evidence::amount;
use crate::read::digits::{plain_number, run};
use crate::read::source::Span;
use crate::read::unit;

/// A cell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    pub text: String,
    pub span: Span,
    /// Value, and one unit in its last printed digit.
    pub number: Option<(f64, f64)>,
    /// The cell says per cent or times itself.
    pub sign: Option<unit::Unit>,
}

/// A row: what it is about, and its cells, one a column.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub span: Span,
    pub label: String,
    pub cells: Vec<Cell>,
}

/// What a table was written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Grid,
    /// Buckets with counts; the columns are the lower bound and the count.
    Histogram,
    /// Lines of a log with counts in them.
    Log,
}

/// A table.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub shape: Shape,
    pub span: Span,
    /// The words over it: its caption, or the lines before its header.
    pub title: Span,
    pub columns: Vec<String>,
    pub rows: Vec<Row>,
}

impl Table {
    pub(crate) fn number(&self, row: usize, column: usize) -> Option<(f64, f64)> {
        self.rows.get(row)?.cells.get(column)?.number
    }
}

/// The table of rows of cells, the first of which name its columns.
pub(super) fn of_rows(
    rows: &[(Span, Vec<Cell>)],
    headers: usize,
    title: Option<Span>,
) -> Option<Table> {
    let headers = headers.min(rows.len());
    let width = rows.iter().map(|(_, cells)| cells.len()).max()?;
    let columns = names(&rows[..headers], width);
    let mut made: Vec<Row> = Vec::new();
    for (span, cells) in &rows[headers..] {
        let mut cells = cells.clone();
        cells.resize(width, Cell::default());
        // A first column that is left empty goes on with the row above.
        let label = match (cells[0].text.is_empty(), made.last()) {
            (true, Some(above)) => above.label.clone(),
            _ => label(&cells),
        };
        made.push(Row { span: *span, label, cells });
    }
    let span = Span::new(rows.first()?.0.start, rows.last()?.0.end);
    let title = title.unwrap_or(Span::new(span.start, span.start));
    (width > 1).then_some(Table { shape: Shape::Grid, span, title, columns, rows: made })
}

/// How many rows at the top have no number: those are the header. A table without any has one.
pub(super) fn header_rows(rows: &[(Span, Vec<Cell>)]) -> usize {
    let count =
        rows.iter().take_while(|(_, cells)| cells.iter().all(|c| c.number.is_none())).count();
    if count >= rows.len() { 1 } else { count.min(3) }
}

/// Column names: what the header rows say, from top to bottom; a cell that spans names all it spans.
fn names(header: &[(Span, Vec<Cell>)], width: usize) -> Vec<String> {
    let mut names = vec![String::new(); width];
    for (i, (_, cells)) in header.iter().enumerate() {
        let mut spanning = "";
        for (column, name) in names.iter_mut().enumerate() {
            let own = cells.get(column).map_or("", |c| c.text.as_str());
            if !own.is_empty() {
                spanning = own;
            }
            let word =
                if own.is_empty() && i + 1 < header.len() && column > 0 { spanning } else { own };
            if !word.is_empty() {
                if !name.is_empty() {
                    name.push(' ');
                }
                name.push_str(word);
            }
        }
    }
    names
}

/// The words of a row up to its first number.
pub(super) fn label(cells: &[Cell]) -> String {
    let is_value = |c: &Cell| c.number.is_some() || amount::of_cell(&c.text, None).is_some();
    let words: Vec<&str> = cells
        .iter()
        .enumerate()
        .take_while(|(i, c)| *i == 0 || !is_value(c))
        .map(|(_, c)| c.text.as_str())
        .filter(|t| !t.is_empty())
        .collect();
    words.join(" ")
}

/// Reads what stands in a cell.
pub(crate) fn cell(text: &str, span: Span) -> Cell {
    let raw = span.of(text);
    let body = raw.trim();
    let lead = raw.len() - raw.trim_start().len();
    let span = Span::new(span.start + lead, span.start + lead + body.len());
    let clean = body.trim_matches(|c| matches!(c, '*' | '~' | '_' | '`' | '$' | '+' | '≈'));
    let (number, sign) = value(clean);
    Cell { text: clean.trim().to_owned(), span, number, sign }
}

/// The number that a cell is, with per cent, times or a unit behind it.
fn value(body: &str) -> (Option<(f64, f64)>, Option<unit::Unit>) {
    let (own, digits) = run(body);
    if digits == 0 || !body.as_bytes()[0].is_ascii_digit() && !body.starts_with('.') {
        return (None, None);
    }
    let Some((value, step, used)) = plain_number(&own) else {
        return (None, None);
    };
    if used < own.len() {
        return (None, None);
    }
    let tail = body[digits..].trim();
    match tail {
        "" => (Some((value, step)), None),
        "%" => (Some((value, step)), Some(unit::Unit::Percent)),
        "x" | "X" | "×" => (Some((value, step)), Some(unit::Unit::Times)),
        "K" | "k" => (Some((value * 1e3, step * 1e3)), None),
        tail => match unit::read(&tail.to_lowercase(), tail) {
            Some(read) => (Some((value, step)), Some(read.unit)),
            None => (None, None),
        },
    }
}

/// The names of the columns and the words of the rows of the one table that was found, for tests.
#[cfg(test)]
pub(super) fn only(found: &[(Table, Vec<usize>)]) -> (Vec<String>, Vec<Vec<String>>) {
    let [(table, _)] = found else { panic!("{} tables", found.len()) };
    let words = |r: &Row| r.cells.iter().map(|c| c.text.clone()).collect();
    (table.columns.clone(), table.rows.iter().map(words).collect())
}
