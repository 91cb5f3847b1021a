//! Declarations of tables: separators of numbers, units and titles that a text does not print, and
//! tables whose columns blanks alone do not show.

use std::borrow::Cow;
use std::collections::BTreeMap;

use assay_model::Better;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::document::Document;
use crate::number::NumberFormat;
use crate::tables::{Grid, Table, find, plain, table};

/// A table, given by its number or its name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TableName {
    /// Number of the table in the order of the text, from 1.
    Number(usize),
    /// A name as in `table 2`, a title, or the name of another declaration.
    Name(String),
}

/// A `[[table]]` of a claims file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableDeclaration {
    /// Table to declare: its number in the order of the text, `table 2`, or its title.
    pub table: Option<TableName>,
    /// Lines of the text that are the rows of an additional table, as in `25-33`. Every line must
    /// match `row`, or have as many words as there are `columns`.
    pub lines: Option<String>,
    /// Regular expression that matches one row of `lines`, with a group for each column. It may
    /// span several lines (`\n`).
    pub row: Option<String>,
    /// Additional name of the table for use in expressions.
    pub name: Option<String>,
    /// Decimal separator: `.` (the default) or `,`.
    pub decimal: Option<char>,
    /// Thousands separator. Without one, `1,234` is not a number.
    pub thousands: Option<char>,
    /// Units of columns that print none, by column.
    #[serde(default)]
    pub units: BTreeMap<String, String>,
    /// Titles of all columns, which replace those in the text.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Direction in which the values are better.
    pub better: Option<Better>,
}

impl Document {
    /// Returns the tables of the text with the declarations applied. The error contains the index
    /// of its declaration.
    pub fn tables(&self, declared: &[TableDeclaration]) -> Result<Vec<Table>, (usize, String)> {
        let mut grids: Vec<Cow<'_, Grid>> = self.grids.iter().map(Cow::Borrowed).collect();
        let named = |grids: &[Cow<'_, Grid>], at: usize, format| {
            table(&grids[at], format!("table {}", at + 1), format)
        };
        let mut tables: Vec<Table> =
            (0..grids.len()).map(|i| named(&grids, i, NumberFormat::default())).collect();
        for (i, own) in declared.iter().enumerate() {
            let error = |message: String| (i, message);
            let at = match (&own.table, &own.lines) {
                (Some(wanted), None) => position(&tables, wanted).map_err(error)?,
                (None, Some(lines)) => {
                    grids.push(Cow::Owned(self.declared_grid(own, lines).map_err(error)?));
                    tables.push(named(&grids, grids.len() - 1, NumberFormat::default()));
                    grids.len() - 1
                }
                _ => return Err(error("a [[table]] has either `table` or `lines`".to_owned())),
            };
            let format = own.format().map_err(error)?;
            if !own.columns.is_empty() {
                let width = tables[at].columns.len();
                if own.columns.len() != width {
                    let (wanted, name) = (own.columns.len(), &tables[at].name);
                    return Err(error(format!(
                        "{name} has {width} columns, `columns` has {wanted}"
                    )));
                }
                grids[at].to_mut().header.clone_from(&own.columns);
            }
            let mut made = named(&grids, at, format);
            made.aliases = std::mem::take(&mut tables[at].aliases);
            made.aliases.extend(own.name.clone());
            made.better = own.better;
            for (column, unit) in &own.units {
                let column = made.column(column).map_err(|e| error(e.to_string()))?;
                made.columns[column].unit = Some(unit.clone());
                for row in &mut made.rows {
                    row.cells[column].unit = Some(unit.clone());
                }
            }
            tables[at] = made;
        }
        Ok(tables)
    }

    /// Builds the table of declared lines.
    fn declared_grid(&self, own: &TableDeclaration, lines: &str) -> Result<Grid, String> {
        let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
        let last = self.source.lines().count();
        let (from, to) = match (from.trim().parse::<usize>(), to.trim().parse::<usize>()) {
            (Ok(from), Ok(to)) if 1 <= from && from <= to && to <= last => (from, to),
            _ => {
                return Err(format!(
                    "`lines = \"{lines}\"` is not a range in 1-{last}, as in \"25-33\""
                ));
            }
        };
        let text = || self.source.lines().enumerate().skip(from - 1).take(to + 1 - from);
        let mut grid = Grid { line: from, ..Grid::default() };
        let Some(pattern) = &own.row else {
            for (i, text) in text().filter(|(_, t)| !t.trim().is_empty()) {
                let cells = plain::split_words(text);
                if cells.len() != own.columns.len() {
                    let (has, wanted) = (cells.len(), own.columns.len());
                    return Err(format!(
                        "line {} has {has} words for {wanted} `columns`: write a `row` expression",
                        i + 1
                    ));
                }
                grid.rows.push((i + 1, cells));
            }
            return Ok(grid);
        };
        let regex = regex_lite::RegexBuilder::new(pattern)
            .multi_line(true)
            .build()
            .map_err(|e| format!("`row` is not a regular expression: {e}"))?;
        let joined: Vec<&str> = text().map(|(_, t)| t).collect();
        let joined = joined.join("\n");
        let ends: Vec<usize> = joined.match_indices('\n').map(|(i, _)| i).collect();
        let line = |at: usize| from + ends.partition_point(|end| *end < at);
        let unread = |part: Range| match joined[part.clone()].find(|c: char| !c.is_whitespace()) {
            Some(at) => Err(format!("line {} does not fit `row`", line(part.start + at))),
            None => Ok(()),
        };
        let mut read = 0;
        for captures in regex.captures_iter(&joined) {
            let whole = captures.get(0).map_or(0..0, |m| m.range());
            unread(read..whole.start)?;
            let cells = (1..captures.len())
                .map(|i| captures.get(i).map_or(String::new(), |m| m.as_str().to_owned()));
            grid.rows.push((line(whole.start), cells.collect()));
            read = whole.end;
        }
        unread(read..joined.len())?;
        Ok(grid)
    }
}

type Range = std::ops::Range<usize>;

impl TableDeclaration {
    fn format(&self) -> Result<NumberFormat, String> {
        let decimal = self.decimal.unwrap_or('.');
        if !matches!(decimal, '.' | ',') {
            return Err(format!("`decimal` is \".\" or \",\", not \"{decimal}\""));
        }
        let thousands = self.thousands;
        if let Some(mark) = thousands.filter(|m| *m == decimal || m.is_alphanumeric()) {
            return Err(format!("`thousands` cannot be \"{mark}\" if `decimal` is \"{decimal}\""));
        }
        Ok(NumberFormat { decimal, thousands })
    }
}

/// Returns the index of a table.
fn position(tables: &[Table], wanted: &TableName) -> Result<usize, String> {
    let name = match wanted {
        TableName::Number(n) => format!("table {n}"),
        TableName::Name(name) => name.clone(),
    };
    let found = find(tables, &name).map_err(|e| e.to_string())?;
    Ok(tables.iter().position(|t| std::ptr::eq(t, found)).unwrap_or(0))
}
