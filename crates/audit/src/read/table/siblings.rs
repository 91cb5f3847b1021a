//! Tables of the same rows: one after the other with the same columns, "without log device:" and "with log device:", as
//! one that has the rows of all; with other columns, a list of systems and a list of their results, as one that has the
//! columns of all.

use std::collections::BTreeSet;

use super::{Cell, Row, Shape, Table};

/// Tables of more rows are not put together, and not more tables.
const MAX_ROWS: usize = 30;
const MAX_TABLES: usize = 6;
const MAX_COLUMNS: usize = 16;
/// Longer lines over a table do not name it.
const MAX_NAME: usize = 70;

/// What tables of a kind are together, with which they are.
pub(crate) fn together(text: &str, tables: &[Table]) -> Vec<(Table, Vec<usize>)> {
    let mut found = Vec::new();
    let mut taken = vec![false; tables.len()];
    for first in 0..tables.len() {
        if taken[first] || !is_eligible(&tables[first]) {
            continue;
        }
        let same: Vec<usize> = (first..tables.len())
            .filter(|i| {
                !taken[*i] && is_eligible(&tables[*i]) && alike(&tables[first], &tables[*i])
            })
            .collect();
        if !(2..=MAX_TABLES).contains(&same.len()) {
            continue;
        }
        let names: Vec<String> = same.iter().map(|i| name(text, &tables[*i])).collect();
        let distinct: BTreeSet<&String> = names.iter().collect();
        if distinct.len() < names.len() || names.iter().any(String::is_empty) {
            continue;
        }
        for i in &same {
            taken[*i] = true;
        }
        found.push((joined(tables, &same, &names), same));
    }
    found
}

/// Tables of the same rows side by side, with the table that each column is of.
pub(crate) fn side_by_side(tables: &[Table]) -> Vec<(Table, Vec<usize>)> {
    let mut found = Vec::new();
    let mut taken = vec![false; tables.len()];
    let keys: Vec<BTreeSet<&str>> =
        tables.iter().map(|t| if is_eligible(t) { keys(t) } else { BTreeSet::new() }).collect();
    for first in 0..tables.len() {
        if taken[first] || keys[first].len() < 2 {
            continue;
        }
        let others: Vec<usize> = (first + 1..tables.len())
            .filter(|i| !taken[*i] && keys[*i] == keys[first])
            .filter(|i| tables[*i].columns != tables[first].columns)
            .take(MAX_TABLES - 1)
            .collect();
        if others.is_empty() {
            continue;
        }
        let mut whole = tables[first].clone();
        let mut parts = vec![0; whole.columns.len()];
        for (part, i) in others.iter().enumerate() {
            taken[*i] = true;
            let other = &tables[*i];
            whole.columns.extend(other.columns.iter().skip(1).cloned());
            parts.resize(whole.columns.len(), part + 1);
            for row in &mut whole.rows {
                let key = &row.cells[0].text;
                let own = other.rows.iter().find(|r| r.cells[0].text == *key);
                row.cells.extend(own.into_iter().flat_map(|r| r.cells.iter().skip(1).cloned()));
            }
        }
        let even = whole.rows.iter().all(|r| r.cells.len() == whole.columns.len());
        if even && whole.columns.len() <= MAX_COLUMNS {
            found.push((whole, parts));
        }
    }
    found
}

/// What the rows are called, if each is called otherwise.
fn keys(table: &Table) -> BTreeSet<&str> {
    let all: BTreeSet<&str> =
        table.rows.iter().filter_map(|r| Some(r.cells.first()?.text.as_str())).collect();
    let named = all.iter().all(|k| k.chars().any(char::is_alphabetic));
    if all.len() == table.rows.len() && named { all } else { BTreeSet::new() }
}

fn is_eligible(table: &Table) -> bool {
    table.shape == Shape::Grid && (1..=MAX_ROWS).contains(&table.rows.len())
}

/// Whether two tables have the same columns, and the same rows or one each.
fn alike(a: &Table, b: &Table) -> bool {
    if a.columns != b.columns || a.columns.len() < 2 {
        return false;
    }
    let labels = |t: &Table| t.rows.iter().map(|r| r.label.clone()).collect::<BTreeSet<_>>();
    let (x, y) = (labels(a), labels(b));
    let single = a.rows.len() == 1 && b.rows.len() == 1;
    let rows = x.len() > 1 && 2 * x.intersection(&y).count() > x.len().max(y.len());
    let named = a.columns.iter().skip(1).any(|c| !c.is_empty());
    // A device that was there only once.
    let common = x.intersection(&y).count();
    let told_apart = x.len() == a.rows.len() && y.len() == b.rows.len() && !x.contains("");
    let within = named && told_apart && common == x.len().min(y.len());
    let within = within && 2 * common >= x.len().max(y.len());
    rows || single && named || within
}

/// What stands right over a table: the last line of its title, or of it the last sentence.
fn name(text: &str, table: &Table) -> String {
    let title = table.title.of(text);
    // "procs -----memory----- --swap--" is over columns.
    let words = |l: &&str| l.chars().any(char::is_alphanumeric) && !l.contains("---");
    let line = title.lines().rev().map(str::trim).find(words);
    let line = line.unwrap_or("");
    let line = line.rsplit_once(". ").map_or(line, |(_, last)| last);
    let name = line.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, ')' | '('));
    if name.chars().count() > MAX_NAME { String::new() } else { name.to_owned() }
}

fn joined(tables: &[Table], own: &[usize], names: &[String]) -> Table {
    let last = &tables[own[own.len() - 1]];
    let mut columns = vec![String::new()];
    columns.extend(last.columns.iter().cloned());
    let mut rows = Vec::new();
    let single = own.iter().all(|i| tables[*i].rows.len() == 1);
    for (name, i) in names.iter().zip(own) {
        for row in &tables[*i].rows {
            let title = Cell { text: name.clone(), span: row.span, ..Cell::default() };
            let label = if single { name.clone() } else { format!("{name} {}", row.label) };
            let cells = std::iter::once(title).chain(row.cells.iter().cloned()).collect();
            rows.push(Row { span: row.span, label, cells });
        }
    }
    Table { shape: Shape::Grid, span: last.span, title: last.title, columns, rows }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::document::document;

    #[test]
    fn runs_before_and_after_are_rows_of_one_table() {
        let text = "Before the change:\n\n```\nr/s   w/s   busy\n38.2  121.4  71\n```\n\nAfter it:\n\n\
                    ```\nr/s   w/s   busy\n52.7  64.9   44\n```\n";
        let document = document(text);
        let all = together(text, &document.tables);
        assert_eq!(all.len(), 1);
        let labels: Vec<&str> = all[0].0.rows.iter().map(|r| r.label.as_str()).collect();
        assert_eq!(labels, ["Before the change", "After it"]);
        assert_eq!(all[0].0.rows[1].cells[2].text, "64.9");
    }

    #[test]
    fn tables_below_others_are_called_like_them() {
        let text = "Before\n\n```\nload  jobs\n 8.12     4\n\ndisk    r/s    w/s\nsdb   61.20  214.7\n```\n\nAfter\n\n\
                    ```\nload  jobs\n 9.86     3\n\ndisk    r/s    w/s\nsdb   78.60  121.3\nsdc    0.00  166.4\n```\n";
        let document = document(text);
        let all = together(text, &document.tables);
        let labels: Vec<Vec<&str>> =
            all.iter().map(|(t, _)| t.rows.iter().map(|r| r.label.as_str()).collect()).collect();
        assert_eq!(labels, [vec!["Before", "After"], vec!["Before sdb", "After sdb", "After sdc"]]);
    }

    #[test]
    fn lists_of_the_same_systems_stand_side_by_side() {
        let text = "| system | cores |\n|---|---|\n| A | 8 |\n| B | 16 |\n\nResults:\n\n\
                    | system | bops |\n|---|---|\n| B | 900 |\n| A | 500 |\n";
        let document = document(text);
        let (table, parts) = &side_by_side(&document.tables)[0];
        assert_eq!(table.columns, ["system", "cores", "bops"]);
        assert_eq!(*parts, [0, 0, 1]);
        assert_eq!(table.rows[0].cells[2].text, "500");
    }

    #[test]
    fn tables_of_one_name_or_of_other_rows_stay_apart() {
        let text = "Runs:\n\n| a | ms |\n|---|---|\n| x | 1 |\n| y | 2 |\n\nRuns:\n\n| a | ms |\n|---|---|\n\
                    | x | 3 |\n| y | 4 |\n\nMore:\n\n| a | ms |\n|---|---|\n| v | 3 |\n| w | 4 |\n";
        let document = document(text);
        assert_eq!(document.tables.len(), 3);
        assert!(together(text, &document.tables).is_empty());
    }
}
