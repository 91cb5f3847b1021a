//! Tables of a text, addressed by the names of their rows and columns.

pub(crate) mod csv;
mod declare;
pub(crate) mod html;
mod lookup;
pub(crate) mod markdown;
pub(crate) mod plain;

use assay_model::Better;

pub use declare::{TableDeclaration, TableName};
pub use lookup::{LookupError, find};

use crate::number::{self, Number, NumberFormat};
use crate::unit;

/// A table of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The name for expressions: `table 2`, by the order of the text.
    pub name: String,
    /// Further names, from declarations.
    pub aliases: Vec<String>,
    /// The title: the caption, or the line or heading above.
    pub title: Option<String>,
    /// The line of its header or first row, from 1.
    pub line: usize,
    /// Columns. The first one holds the names of the rows.
    pub columns: Vec<Column>,
    /// Rows without the header.
    pub rows: Vec<Row>,
    /// The better direction of its values, if it is declared.
    pub better: Option<Better>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The title.
    pub title: String,
    /// The unit: from the title, as in `Time [ms]`, or declared.
    pub unit: Option<String>,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The text of its first cell.
    pub name: String,
    /// Line in the text, from 1.
    pub line: usize,
    /// Cells, one for each column.
    pub cells: Vec<Cell>,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The text, white space normalized.
    pub text: String,
    /// The number, if the text is one, with or without a unit.
    pub number: Option<Number>,
    /// The unit: of the cell, else of its column.
    pub unit: Option<String>,
}

/// A table as it stands in the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Grid {
    pub title: Option<String>,
    pub line: usize,
    /// Titles of columns; empty where the text has none.
    pub header: Vec<String>,
    /// Lines and cells.
    pub rows: Vec<(usize, Vec<String>)>,
}

/// Columns of a table at most; further cells are dropped with the table.
pub(crate) const MAX_COLUMNS: usize = 1000;

/// Makes a table of a grid. `units` are those of declared columns.
fn table(grid: &Grid, name: String, format: NumberFormat) -> Table {
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

/// Reads a cell. A spread behind the number (`312.4 ± 4.1 ms`) is no part of it.
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

/// The unit in a title: in brackets at its end, or the title itself.
fn unit_of_title(title: &str) -> Option<String> {
    let bracketed = title.strip_suffix([')', ']']).and_then(|t| t.rsplit_once(['(', '[']));
    let unit = bracketed.map_or(title, |(_, unit)| unit);
    unit::is_known(unit).then(|| unit.to_owned())
}

/// Normalizes white space.
pub(crate) fn normalized(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// True if the text begins as a number does.
pub(crate) fn is_numeric(text: &str) -> bool {
    let text = text.trim_start_matches(['+', '-', '\u{2212}', '~', '.', '$']);
    text.starts_with(|c: char| c.is_ascii_digit())
}
