//! Finds tables, rows, columns and cells by name. A name that matches nothing or several things is
//! an error.

use super::{Cell, Row, Table};

/// Maximum number of candidates that an error lists.
const LISTED: usize = 8;

/// Error for a name that does not lead to one cell with a number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    #[error("no table is called `{name}`: there is {}", listed(candidates))]
    NoTable {
        name: String,
        /// Names and titles of the tables.
        candidates: Vec<String>,
    },
    #[error("{} tables fit `{name}`: {}; name one", candidates.len(), listed(candidates))]
    SeveralTables {
        name: String,
        /// Names, lines and titles of the matching tables.
        candidates: Vec<String>,
    },
    #[error("no row of {table} fits `{name}`: it has {}", listed(candidates))]
    NoRow {
        table: String,
        name: String,
        /// Names of all rows in the table.
        candidates: Vec<String>,
    },
    #[error("{} rows of {table} fit `{name}`: {}; add words of the row's other cells, or write \
             `line N`", candidates.len(), listed(candidates))]
    SeveralRows {
        table: String,
        name: String,
        /// Lines and texts of the matching rows.
        candidates: Vec<String>,
    },
    #[error("no column of {table} fits `{name}`: it has {}", listed(candidates))]
    NoColumn {
        table: String,
        name: String,
        /// Titles of all columns in the table.
        candidates: Vec<String>,
    },
    #[error("{} columns of {table} fit `{name}`: {}; write `column N`, or declare the table's \
             `columns`", candidates.len(), listed(candidates))]
    SeveralColumns {
        table: String,
        name: String,
        /// Numbers and titles of the matching columns.
        candidates: Vec<String>,
    },
    /// The cell does not contain a number.
    #[error("`{text}` is not a number ({table}, line {line}, column `{column}`){}", hint(text))]
    NotANumber {
        table: String,
        line: usize,
        /// Title of the column.
        column: String,
        /// Text of the cell.
        text: String,
    },
}

fn listed(candidates: &[String]) -> String {
    let shown: Vec<String> = candidates.iter().take(LISTED).map(|c| format!("`{c}`")).collect();
    let rest = candidates.len().saturating_sub(LISTED);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") + &more }
}

/// Suggests a next step for a text that looks like a number in another format.
fn hint(text: &str) -> &'static str {
    let separated = text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(',');
    if separated { ": declare the table's `thousands` or `decimal` mark" } else { "" }
}

/// Returns the table that `name` matches: by its name or alias, or by the beginning of its title.
/// If the text's own `Table 2:` is not the second table, the name matches both, which is an error.
pub fn find<'a>(tables: &'a [Table], name: &str) -> Result<&'a Table, LookupError> {
    let wanted = key(name);
    if let Some(table) = tables.iter().find(|t| t.aliases.iter().any(|a| has_key(a, &wanted))) {
        return Ok(table);
    }
    let titled = |t: &Table| {
        let title = key(t.title.as_deref().unwrap_or(""));
        let rest = title.strip_prefix(&wanted);
        !wanted.is_empty() && rest.is_some_and(|r| !r.starts_with(char::is_alphanumeric))
    };
    let fitting: Vec<&Table> =
        tables.iter().filter(|t| has_key(&t.name, &wanted) || titled(t)).collect();
    let name = name.to_owned();
    let shown = |t: &&Table| {
        let title = t.title.as_ref().map_or(String::new(), |t| format!(": {t}"));
        format!("{} (line {}){title}", t.name, t.line)
    };
    match fitting.as_slice() {
        [table] => Ok(table),
        [] => {
            let candidates = tables.iter().map(|t| shown(&t)).collect();
            Err(LookupError::NoTable { name, candidates })
        }
        several => {
            let candidates = several.iter().map(shown).collect();
            Err(LookupError::SeveralTables { name, candidates })
        }
    }
}

impl Table {
    /// Returns the row that `name` matches: by the text of its first cell, by `line N`, or by words
    /// that all occur in it.
    pub fn row(&self, name: &str) -> Result<&Row, LookupError> {
        let wanted = key(name);
        let mut fitting: Vec<&Row> = match numbered(&wanted, "line") {
            Some(line) => self.rows.iter().filter(|r| r.line == line).collect(),
            None => self.rows.iter().filter(|r| has_key(&r.name, &wanted)).collect(),
        };
        if fitting.is_empty() {
            fitting = self.rows.iter().filter(|r| has_words(&r.text(), &wanted)).collect();
        }
        let (table, name) = (self.name.clone(), name.to_owned());
        match fitting.as_slice() {
            [row] => Ok(row),
            [] => {
                let candidates = self.rows.iter().map(|r| r.name.clone()).collect();
                Err(LookupError::NoRow { table, name, candidates })
            }
            several => {
                let shown = |r: &&Row| format!("line {}: {}", r.line, r.text());
                let candidates = several.iter().map(shown).collect();
                Err(LookupError::SeveralRows { table, name, candidates })
            }
        }
    }

    /// Returns the index of the column that `name` matches: by its title, by `column N` from 1, or
    /// by words that all occur in its title.
    pub fn column(&self, name: &str) -> Result<usize, LookupError> {
        let wanted = key(name);
        let titles = || self.columns.iter().map(|c| c.title.as_str()).enumerate();
        let mut fitting: Vec<usize> =
            titles().filter(|(_, t)| has_key(t, &wanted)).map(|(i, _)| i).collect();
        if let Some(place) = numbered(&wanted, "column").filter(|_| fitting.is_empty()) {
            fitting.extend(place.checked_sub(1).filter(|i| *i < self.columns.len()));
        }
        if fitting.is_empty() {
            fitting = titles().filter(|(_, t)| has_words(t, &wanted)).map(|(i, _)| i).collect();
        }
        let (table, name) = (self.name.clone(), name.to_owned());
        match fitting.as_slice() {
            [column] => Ok(*column),
            [] => {
                let candidates = titles().map(|(_, t)| t.to_owned()).collect();
                Err(LookupError::NoColumn { table, name, candidates })
            }
            several => {
                let shown = |i: &usize| format!("column {}: {}", i + 1, self.columns[*i].title);
                let candidates = several.iter().map(shown).collect();
                Err(LookupError::SeveralColumns { table, name, candidates })
            }
        }
    }

    /// Returns the cell of a row and a column, which must contain a number.
    pub fn number<'a>(&self, row: &'a Row, column: usize) -> Result<&'a Cell, LookupError> {
        let cell = &row.cells[column];
        if cell.number.is_some() {
            return Ok(cell);
        }
        Err(LookupError::NotANumber {
            table: self.name.clone(),
            line: row.line,
            column: self.columns[column].title.clone(),
            text: cell.text.clone(),
        })
    }
}

impl Row {
    /// Returns the texts of all cells of the row.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.cells.iter().map(|c| c.text.as_str()).collect();
        texts.join(" ")
    }
}

/// Normalizes a name for comparison: lower case, single blanks.
fn key(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Returns true if `wanted` (a key) is the key of `text`.
fn has_key(text: &str, wanted: &str) -> bool {
    text.split_whitespace().map(str::to_lowercase).eq(wanted.split_whitespace())
}

/// Returns the number in a key such as `line 41`.
fn numbered(key: &str, word: &str) -> Option<usize> {
    key.strip_prefix(word)?.strip_prefix(' ')?.parse().ok()
}

/// Returns true if all words of `wanted` (a key) are words of `text`.
fn has_words(text: &str, wanted: &str) -> bool {
    let text = key(text);
    let has = |w: &str| text.split(' ').any(|own| own == w);
    !wanted.is_empty() && wanted.split(' ').all(has)
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Row};
    use super::*;
    use crate::number::{self, NumberFormat};

    fn table() -> Table {
        let rows = [["Acme Z9", "8", "4220"], ["Acme Z9", "4", "4,000"], ["Bolt Q7", "8", "NaN"]];
        Table {
            name: "table 1".into(),
            aliases: Vec::new(),
            better: None,
            title: None,
            line: 1,
            columns: ["system", "chips", "ops/s (best)"]
                .map(|t| Column { title: t.into(), unit: None })
                .to_vec(),
            rows: rows
                .iter()
                .enumerate()
                .map(|(i, cells)| Row {
                    name: cells[0].into(),
                    line: i + 3,
                    cells: cells
                        .iter()
                        .map(|text| Cell {
                            text: (*text).into(),
                            number: number::parse(text, NumberFormat::default()),
                            unit: None,
                        })
                        .collect(),
                })
                .collect(),
        }
    }

    #[test]
    fn a_row_is_named_by_its_first_cell_its_words_or_its_line() {
        let table = table();
        for (name, line) in [("bolt q7", 5), ("Acme Z9 4", 4), ("line 3", 3), ("Q7", 5)] {
            assert_eq!(table.row(name).unwrap().line, line, "{name}");
        }
        let several = table.row("Acme Z9").unwrap_err().to_string();
        assert!(several.contains("2 rows of table 1 fit `Acme Z9`: `line 3: Acme"), "{several}");
        let none = table.row("Crow").unwrap_err().to_string();
        assert!(none.contains("no row of table 1 fits `Crow`: it has `Acme Z9`"), "{none}");
        assert!(table.row("").is_err());
        assert!(table.row("line 99").is_err());
    }

    #[test]
    fn a_column_is_named_by_its_title_its_words_or_its_place() {
        let table = table();
        for (name, place) in [("CHIPS", 1), ("ops/s", 2), ("column 3", 2)] {
            assert_eq!(table.column(name).unwrap(), place, "{name}");
        }
        assert!(table.column("column 0").is_err());
        assert!(table.column("column 4").is_err());
        let none = table.column("watts").unwrap_err().to_string();
        assert!(none.contains("it has `system`, `chips`"), "{none}");
    }

    #[test]
    fn a_cell_without_a_number_is_an_error_with_its_place() {
        let table = table();
        let chips = table.column("chips").unwrap();
        assert_eq!(table.row("bolt q7").unwrap().cells[chips].text, "8");
        let message = |i: usize| table.number(&table.rows[i], 2).unwrap_err().to_string();
        assert!(message(1).contains("line 4, column `ops/s (best)`): declare"), "{}", message(1));
        assert!(message(2).contains("`NaN` is not a number"), "{}", message(2));
    }
}
