//! Tables of a text, addressed by the names of their rows and columns.

pub(crate) mod blocks;
pub(crate) mod csv;
pub(crate) mod html;
mod lookup;
pub(crate) mod markdown;
pub(crate) mod plain;

use assay_model::Better;

pub use lookup::{LookupError, find};

use crate::number::{self, Number, NumberFormat};
use crate::unit;

/// A table of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Name for expressions, by the order of the text: `table 2`.
    pub name: String,
    /// Additional names from declarations.
    pub aliases: Vec<String>,
    /// Title: the caption, or the line or heading above the table.
    pub title: Option<String>,
    /// Line number of the header or first row, from 1.
    pub line: usize,
    /// Columns. The first one contains the names of the rows.
    pub columns: Vec<Column>,
    /// Rows without the header.
    pub rows: Vec<Row>,
    /// Direction in which the values are better, if declared.
    pub better: Option<Better>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub title: String,
    /// Unit: from the title, as in `Time [ms]`, or declared.
    pub unit: Option<String>,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Text of the first cell.
    pub name: String,
    /// Line number in the text, from 1.
    pub line: usize,
    /// Cells, one for each column.
    pub cells: Vec<Cell>,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Text with white space normalized.
    pub text: String,
    /// Number, if the text is one, with or without a unit.
    pub number: Option<Number>,
    /// Unit of the cell, else of its column.
    pub unit: Option<String>,
}

/// Cells of a table as printed in the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Grid {
    pub title: Option<String>,
    pub line: usize,
    /// Titles of the columns; empty if the text has none.
    pub header: Vec<String>,
    /// Line number and cells of each row.
    pub rows: Vec<(usize, Vec<String>)>,
}

/// Maximum number of columns of a table. HTML and CSV tables lose further cells; wider plain text
/// is not read as a table.
pub(crate) const MAX_COLUMNS: usize = 1000;

/// Makes a table of a grid.
pub(crate) fn table(grid: &Grid, name: String, format: NumberFormat) -> Table {
    let width = grid.rows.iter().map(|(_, cells)| cells.len()).chain([grid.header.len()]).max();
    let width = width.unwrap_or(0);
    let columns: Vec<Column> = (0..width)
        .map(|i| {
            let title = grid.header.get(i).map(|t| normalized(t)).filter(|t| !t.is_empty());
            let title = title.unwrap_or_else(|| format!("column {}", i + 1));
            Column { unit: unit_of_title(&title), title }
        })
        .collect();
    let rows = grid.rows.iter().map(|(line, cells)| {
        let cells: Vec<Cell> = columns
            .iter()
            .enumerate()
            .map(|(i, column)| cell(cells.get(i).map_or("", String::as_str), column, format))
            .collect();
        let name = cells.first().map(|c| c.text.clone()).unwrap_or_default();
        Row { name, line: *line, cells }
    });
    let rows = rows.collect();
    let (title, line) = (grid.title.clone(), grid.line);
    Table { name, aliases: Vec::new(), title, line, columns, rows, better: None }
}

/// Parses a cell. A spread after the number (`312.4 ± 4.1 ms`) is not part of the number.
fn cell(text: &str, column: &Column, format: NumberFormat) -> Cell {
    let text = normalized(text);
    let (number, own) = match text.split_once('\u{b1}') {
        Some((value, spread)) => {
            let spread = number::parse_with_unit(spread, format);
            let value = number::parse(value, format).filter(|_| spread.is_some());
            (value, spread.and_then(|(_, unit)| unit))
        }
        None => match number::parse_with_unit(&text, format) {
            Some((number, unit)) => (Some(number), unit),
            None => (None, None),
        },
    };
    let number =
        number.filter(|_| own.as_ref().is_none_or(|u| !u.contains(|c: char| c.is_numeric())));
    let unit = match (own.filter(|_| number.is_some()), &column.unit) {
        (Some(own), Some(column)) if unit::is_multiplier(&own) => Some(format!("{own} {column}")),
        (Some(own), _) => Some(own),
        (None, column) => column.clone(),
    };
    Cell { text, number, unit }
}

/// Returns the unit in a title: in brackets at its end, or the whole title.
fn unit_of_title(title: &str) -> Option<String> {
    let bracketed = title.strip_suffix([')', ']']).and_then(|t| t.rsplit_once(['(', '[']));
    let unit = bracketed.map_or(title, |(_, unit)| unit);
    unit::is_known(unit).then(|| unit.to_owned())
}

/// Reduces white space to single blanks.
pub(crate) fn normalized(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns true if the text begins like a number.
pub(crate) fn is_numeric(text: &str) -> bool {
    let text = text.trim_start_matches(['+', '-', '\u{2212}', '~', '.', '$']);
    text.starts_with(|c: char| c.is_ascii_digit())
}
