//! Tables as evidence: rows and columns with names, cells with amounts in base units.

use std::collections::{BTreeMap, BTreeSet};

use super::amount::{self, Amount, Dimension, Measure};
use super::bind::Side;
use super::name::{Axis, is_plain, related, words};
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

    /// Reads a table; `None` if it has no amounts.
    pub(crate) fn read(document: &Document<'_>, index: usize, table: &Table) -> Option<Grid> {
        let count = table.rows.len() * table.columns.len();
        if table.shape != Shape::Grid || table.rows.is_empty() || count > MAX_CELLS {
            return None;
        }
        // Grids whose rows differ in their parts are bound by these, not by names.
        if table.columns.iter().filter(|c| is_hardware(c)).count() >= 2 {
            return None;
        }
        let title = table.title.of(document.text).to_lowercase();
        let titled = in_title(&title).or_else(|| in_words(table.title.of(document.text)));
        let headers: Vec<Option<Measure>> =
            table.columns.iter().map(|c| amount::of_header(c)).collect();
        let first_is_name = table
            .rows
            .iter()
            .filter(|r| r.cells.first().is_some_and(|c| amount::of_cell(&c.text, None).is_none()))
            .count()
            * 2
            > table.rows.len();
        let counts = !first_is_name && is_counts(table);
        let mut cells: Vec<Vec<Option<Cell>>> = Vec::with_capacity(table.rows.len());
        for row in &table.rows {
            // "Parse (ms)" in the first cell of a row.
            let of_row = row
                .cells
                .first()
                .filter(|c| first_is_name && c.text.contains(['(', '[', ',']))
                .and_then(|c| amount::of_header(&c.text));
            cells.push(
                row.cells
                    .iter()
                    .enumerate()
                    .map(|(c, cell)| {
                        if c == 0 && (first_is_name || counts) || is_about(&table.columns[c]) {
                            return None;
                        }
                        let (mut amount, ratio) = amount::of_cell(&cell.text, headers[c])?;
                        if let (Dimension::Plain, Some(measure), None) =
                            (amount.dimension(), of_row.or(titled), headers[c])
                        {
                            amount.value *= measure.scale;
                            amount.step *= measure.scale;
                            amount.measure = measure;
                        }
                        Some(Cell { amount, ratio })
                    })
                    .collect(),
            );
        }
        if !cells.iter().flatten().any(Option::is_some) {
            return None;
        }
        let labels = if counts { counted(table) } else { labels(table, first_is_name) };
        let summary = labels.iter().map(|l| is_summary(l)).collect();
        let mut grid = Grid {
            table: index,
            rows: Axis::new(&labels),
            columns: Axis::new(&table.columns),
            cells,
            better: Vec::new(),
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
            Some(Dimension::Time | Dimension::Bytes | Dimension::Power) => Better::Less,
            Some(Dimension::Rate | Dimension::ByteRate | Dimension::BitRate) => Better::More,
            _ => {
                let has = |set: &[&str]| words(&name).iter().any(|w| set.contains(&w.as_str()));
                if has(&[
                    "latency", "tim", "duration", "second", "memory", "rss", "miss", "size",
                    "cost", "elaps", "alloc", "error",
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
        }
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
            | "runs"
            | "samples"
    ) || is_hardware(name)
}

/// Counts of parts and clocks, which describe a row.
fn is_hardware(name: &str) -> bool {
    matches!(
        name.trim().to_lowercase().as_str(),
        "chips"
            | "cores"
            | "threads"
            | "sockets"
            | "cpus"
            | "processors"
            | "jvms"
            | "instances"
            | "ghz"
            | "mhz"
            | "clock"
            | "clock (ghz)"
    )
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

/// Rows by their first cell; where that does not tell them apart, by all their words.
fn labels(table: &Table, first_is_name: bool) -> Vec<String> {
    if !first_is_name {
        return table
            .rows
            .iter()
            .map(|r| r.cells.first().map_or_else(|| r.label.clone(), |c| c.text.clone()))
            .collect();
    }
    let first: Vec<String> = table
        .rows
        .iter()
        .map(|r| {
            let own = r.cells.first().map_or("", |c| c.text.as_str());
            if own.is_empty() { r.label.clone() } else { clean(own) }
        })
        .collect();
    let mut distinct = first.clone();
    distinct.sort();
    distinct.dedup();
    if distinct.len() == first.len() {
        first
    } else {
        table.rows.iter().map(|r| clean(&r.label)).collect()
    }
}

/// Whether rows are told apart by how many of something there are: a first column of whole numbers under one noun.
fn is_counts(table: &Table) -> bool {
    let noun = table.columns.first().is_some_and(|c| {
        let c = c.trim();
        c.len() > 3 && c.ends_with('s') && c.bytes().all(|b| b.is_ascii_alphabetic())
    });
    let mut all: Vec<&str> =
        table.rows.iter().filter_map(|r| r.cells.first()).map(|c| c.text.trim()).collect();
    let whole =
        all.iter().all(|c| !c.is_empty() && c.bytes().all(|b| b.is_ascii_digit() || b == b','));
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    noun && whole && count > 1 && all.len() == count && table.columns.len() > 1
}

/// Names of such rows: "8 threads".
fn counted(table: &Table) -> Vec<String> {
    let noun = table.columns.first().map_or("", |c| c.trim());
    let name = |cell: &str| format!("{} {noun}", cell.trim().replace(',', ""));
    table.rows.iter().map(|r| r.cells.first().map_or(String::new(), |c| name(&c.text))).collect()
}

/// Words of a cell without links and marks.
fn clean(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        out.push_str(&rest[..at].replace('[', ""));
        rest = rest[at + 2..].split_once(')').map_or("", |(_, r)| r);
    }
    out.push_str(rest);
    out
}

/// A unit that the words over a table give all its cells.
fn in_title(title: &str) -> Option<Measure> {
    let phrase = [
        ("queries per second", "qps"),
        ("requests per second", "rps"),
        ("frames per second", "fps"),
        ("operations per second", "ops/s"),
        ("transactions per second", "tps"),
        ("milliseconds", "ms"),
        ("microseconds", "µs"),
        ("nanoseconds", "ns"),
        ("(ms)", "ms"),
        ("in ms", "ms"),
        ("seconds", "s"),
        ("mb/s", "MB/s"),
    ];
    phrase.iter().find(|(p, _)| title.contains(p)).and_then(|(_, unit)| {
        if *unit == "s" {
            Some(Measure { dimension: Dimension::Time, scale: 1.0, binary: None })
        } else {
            amount::measure(unit)
        }
    })
}

/// A unit behind "in", or in brackets, in the words over a table: "in GB".
fn in_words(title: &str) -> Option<Measure> {
    let words: Vec<&str> = title.split_whitespace().collect();
    let bare = |w: &str| w.trim_matches([',', '.', ':', ';', '(', ')', '*', '`']).to_owned();
    let behind = |w: &[&str]| {
        let says = w[0].eq_ignore_ascii_case("in") || w[1].starts_with('(') && w[1].len() > 2;
        amount::measure(&bare(w[1])).filter(|m| {
            says && !matches!(m.dimension, Dimension::Count | Dimension::Times | Dimension::Percent)
        })
    };
    let mut found = words.windows(2).filter_map(behind);
    let first = found.next()?;
    found.all(|m| m == first).then_some(first)
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
