//! Tables as evidence: rows and columns with names, cells with amounts in base units.

use std::collections::{BTreeMap, BTreeSet};

use super::amount::{self, Amount, Dimension, Measure};
use super::bind::Side;
use super::name::{Axis, is_plain, related, words};
use super::{caption, rows};
use crate::read::document::Document;
use crate::read::table::{Shape, Table};

/// A table of amounts.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    /// Its place in [`Document::tables`].
    pub table: usize,
    pub rows: Axis,
    pub columns: Axis,
    /// By row and column.
    cells: Vec<Vec<Option<Cell>>>,
    pub better: Vec<Better>,
    /// Which way a row is better, by its name alone.
    pub row_better: Vec<Better>,
    /// Words of the caption and of the headings over it.
    pub context: Vec<String>,
    /// Rows of averages and totals.
    pub summary: Vec<bool>,
    /// What the text calls several of its names: "routes" of "static routes" and "wildcard routes".
    pub classes: BTreeSet<String>,
    pub start: usize,
}

/// An amount in a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell {
    pub amount: Amount,
    /// The ratio in brackets behind the amount.
    pub ratio: Option<(f64, f64)>,
}

/// Which way a column is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Better {
    Less,
    More,
    Unknown,
}

/// A cell's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At {
    pub row: usize,
    pub column: usize,
}

/// Larger tables hold no names that a sentence could mean.
const MAX_CELLS: usize = 20_000;

impl Grid {
    pub(crate) fn cell(&self, at: At) -> Option<&Cell> {
        self.cells.get(at.row)?.get(at.column)?.as_ref()
    }

    pub(crate) fn amount(&self, at: At) -> Option<Amount> {
        self.cell(at).map(|c| c.amount)
    }

    /// Whether a word is of a name of it, or of what stands over it.
    pub(crate) fn knows(&self, word: &String) -> bool {
        self.rows.knows(word)
            || self.columns.knows(word)
            || self.classes.contains(word)
            || self.context.iter().any(|w| related(w, word))
    }

    pub(crate) fn axis(&self, side: Side) -> &Axis {
        match side {
            Side::Rows => &self.rows,
            Side::Columns => &self.columns,
        }
    }

    /// The columns of amounts.
    pub(crate) fn valued(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.columns.names.len())
            .filter(|c| self.cells.iter().any(|r| r.get(*c).is_some_and(Option::is_some)))
    }

    /// Whether a column holds ratios to something that its name names ("vs C").
    pub(crate) fn is_against(&self, column: usize) -> bool {
        self.columns.names[column].words.iter().any(|w| w == "vs" || w == "versus")
    }

    /// The dimension of a column, as most of its cells have it.
    pub(crate) fn dimension(&self, column: usize) -> Option<Dimension> {
        self.cells.iter().find_map(|r| r.get(column)?.map(|c| c.amount.dimension()))
    }

    /// The rows that are no averages or totals.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.cells.len()).filter(|r| !self.summary[*r])
    }

    /// Reads a table; `None` if it has no amounts, or if its rows differ in their parts and are bound by these.
    pub(crate) fn read(document: &Document<'_>, index: usize, table: &Table) -> Option<Grid> {
        if table.columns.iter().filter(|c| is_hardware(c)).count() >= 2 {
            return None;
        }
        Grid::read_as(document, index, table, |name| is_about(name) || is_hardware(name))
    }

    /// Reads a table with the parts and clocks of its rows as values.
    pub(crate) fn read_wide(document: &Document<'_>, index: usize, table: &Table) -> Option<Grid> {
        Grid::read_as(document, index, table, is_about)
    }

    fn read_as(
        document: &Document<'_>,
        index: usize,
        table: &Table,
        is_about: impl Fn(&str) -> bool,
    ) -> Option<Grid> {
        let count = table.rows.len() * table.columns.len();
        if table.shape != Shape::Grid || table.rows.is_empty() || count > MAX_CELLS {
            return None;
        }
        let words_over = table.title.of(document.text);
        let title = words_over.to_lowercase();
        let titled = caption::of_columns(words_over, &table.columns);
        let units = rows::units_under_header(table);
        let shares = rows::shares_of_time(&table.columns);
        let headers: Vec<Option<Measure>> = table
            .columns
            .iter()
            .enumerate()
            .map(|(c, name)| match shares.get(c) {
                Some(true) => amount::measure("%"),
                _ => amount::of_header(name).or_else(|| *units.get(c)?),
            })
            .collect();
        let rows::Names { labels, keys } = rows::names(table, &headers);
        let of_rows = rows::units(table, &keys);
        let valued: Vec<bool> = table
            .columns
            .iter()
            .enumerate()
            .map(|(c, name)| !is_about(name) && !keys.get(c).is_some_and(|k| *k))
            .collect();
        let mut cells: Vec<Vec<Option<Cell>>> = Vec::with_capacity(table.rows.len());
        for ((row, of_row), label) in table.rows.iter().zip(of_rows).zip(&labels) {
            let parts = is_parts(label);
            let own = row.cells.iter().zip(&headers).enumerate().map(|(c, (cell, header))| {
                if !valued.get(c).is_some_and(|v| *v) {
                    return None;
                }
                let (mut amount, ratio) = amount::of_cell(&cell.text, *header)?;
                let titled = *titled.get(c)?;
                let titled = titled.filter(|_| !parts && !is_parts(&table.columns[c]));
                if let (Dimension::Plain, Some(measure), None) =
                    (amount.dimension(), of_row.or(titled), header)
                {
                    amount.value *= measure.scale;
                    amount.step *= measure.scale;
                    amount.measure = measure;
                }
                Some(Cell { amount, ratio })
            });
            cells.push(own.collect());
        }
        if !cells.iter().flatten().any(Option::is_some) {
            return None;
        }
        let summary = labels.iter().map(|l| is_summary(l)).collect();
        let row_better = labels.iter().map(|l| by_name(&l.trim().to_lowercase())).collect();
        let mut grid = Grid {
            table: index,
            rows: Axis::new(&labels),
            columns: Axis::new(&table.columns),
            cells,
            better: Vec::new(),
            row_better,
            context: words(&title),
            summary,
            classes: BTreeSet::new(),
            start: table.span.start,
        };
        grid.better = (0..grid.columns.names.len()).map(|c| grid.direction(c, &title)).collect();
        Some(grid)
    }

    fn direction(&self, column: usize, title: &str) -> Better {
        let name = self.columns.names[column].text.to_lowercase();
        for text in [name.as_str(), title] {
            if ["lower is better", "less is better", "lower the better", "smaller is better", "↓"]
                .iter()
                .any(|p| text.contains(p))
            {
                return Better::Less;
            }
            if ["higher is better", "more is better", "bigger is better", "larger is better", "↑"]
                .iter()
                .any(|p| text.contains(p))
            {
                return Better::More;
            }
        }
        match self.dimension(column) {
            Some(Dimension::Time | Dimension::Bytes | Dimension::Power | Dimension::Energy) => {
                Better::Less
            }
            Some(Dimension::Rate | Dimension::ByteRate | Dimension::BitRate) => Better::More,
            _ => by_name(&name),
        }
    }
}

/// Which way values of a name are better.
pub(crate) fn by_name(name: &str) -> Better {
    let words = words(name);
    let has = |set: &[&str]| words.iter().any(|w| set.contains(&w.as_str()));
    // "$/QphH": what so much of something costs.
    let priced = ["$/", "€/", "£/", "usd/", "eur/", "price/perf", "price-perf"];
    if priced.iter().any(|p| name.contains(p)) {
        return Better::Less;
    }
    if has(&[
        "latency", "tim", "duration", "second", "memory", "rss", "miss", "size", "cost", "elaps",
        "alloc", "error",
    ]) {
        Better::Less
    } else if has(&[
        "throughput",
        "score",
        "speed",
        "ratio",
        "fps",
        "op",
        "recall",
        "accuracy",
        "qps",
        "speedup",
        "bop",
    ]) {
        Better::More
    } else {
        Better::Unknown
    }
}

/// Columns that tell about a row and measure nothing.
fn is_about(name: &str) -> bool {
    matches!(
        name.trim().to_lowercase().as_str(),
        "version"
            | "ver"
            | "year"
            | "date"
            | "rank"
            | "#"
            | "no"
            | "rounds"
            | "iterations"
            | "issue"
            | "pr"
            | "commit"
            | "release"
            | "n"
            | "cnt"
            | "runs"
            | "samples"
            | "fixed in"
            | "since"
    )
}

/// Counts of parts and clocks, by any of their usual names.
pub(crate) const PARTS: [&str; 9] =
    ["chips", "cores", "threads", "sockets", "cpus", "processors", "jvms", "ghz", "mhz"];

/// Counts of parts and clocks, which describe a row.
fn is_hardware(name: &str) -> bool {
    let name = name.trim().to_lowercase();
    PARTS.contains(&name.as_str()) || matches!(name.as_str(), "instances" | "clock" | "clock (ghz)")
}

/// Names of parts and of their ratios, which take no unit from a caption.
fn is_parts(name: &str) -> bool {
    let lower = name.trim().to_lowercase();
    is_hardware(name) || matches!(lower.as_str(), "racks" | "nodes" | "servers" | "hosts" | "pue")
}

/// Rows that sum up the others.
fn is_summary(label: &str) -> bool {
    words(label).iter().any(|w| {
        matches!(
            w.as_str(),
            "geomean"
                | "averag"
                | "average"
                | "mean"
                | "avg"
                | "total"
                | "sum"
                | "median"
                | "geometric"
        )
    })
}

/// The tables of a text as evidence.
pub(crate) fn all(document: &Document<'_>) -> Vec<Grid> {
    document
        .tables
        .iter()
        .enumerate()
        .take(300)
        .filter_map(|(i, table)| Grid::read(document, i, table))
        .collect()
}

/// The words of all tables' names, with the tables that have them.
pub(crate) fn naming(grids: &[Grid]) -> BTreeMap<String, Vec<usize>> {
    let mut index: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (g, grid) in grids.iter().enumerate() {
        for axis in [&grid.rows, &grid.columns] {
            if axis.names.len() > 400 {
                continue;
            }
            for word in axis.names.iter().flat_map(|n| &n.words).filter(|w| !is_plain(w)) {
                let known = index.entry(word.clone()).or_default();
                if known.last() != Some(&g) {
                    known.push(g);
                }
            }
        }
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::document::document;

    #[test]
    fn a_caption_gives_no_unit_to_parts() {
        let text = "Power of our halls in kW:\n\n| | Aare | Thur |\n|---|---|---|\n\
            | Load | 14 | 45 |\n| Racks | 612 | 210 |\n";
        let found = all(&document(text));
        let of = |row| found[0].amount(At { row, column: 1 }).map(|a| (a.dimension(), a.value));
        assert_eq!(of(0), Some((Dimension::Power, 14e3)));
        assert_eq!(of(1), Some((Dimension::Plain, 612.0)));
    }
}
