//! A landscape: a table of results ranked under a denominator. What it shows is data
//! ([`Definition`], `published/landscapes.toml`); where results come from is a [`Collection`]; which
//! day, which denominators and how much of it is a [`Query`].

mod build;
mod collection;
mod columns;
mod definition;
mod draft;
mod error;
mod measured;
mod questions;
#[cfg(test)]
mod tests;

use assay_checks::{Derivation, Evidence, Known, NumberEvidence, judge, rows};
use assay_model::{Better, Finding, Kind, Profile};
use serde::Serialize;

use crate::denominator::{
    Basis, Denominator, Entry, Matrix, Reversal, better_first, divided, matrix, reversals_from,
    turned,
};
use crate::quoted::Source;

pub use collection::{Collection, Listing};
pub use columns::{counts, entry, question};
pub use definition::{ColumnSpec, Definition, Filter, Words, read_definitions};
pub use error::LandscapeError;
pub use measured::{Measured, measured};

/// What is asked of a landscape.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// Only results that were true on this day (`2009-08-27`); `None`: the definition's day, else all.
    pub as_of: Option<String>,
    /// Columns of values divided by these; the first decides the order.
    pub per: Vec<Denominator>,
    /// Only this metric; needed where a file without a definition has several.
    pub metric: Option<String>,
    /// Lines below this place are counted but not made.
    pub top: Option<usize>,
}

/// A table of results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Landscape {
    /// Its name.
    pub name: String,
    /// Its title; [`Landscape::heading`] has all that must stand above the table.
    pub title: String,
    /// The benchmarks whose results are in it.
    pub benchmarks: Vec<String>,
    /// The metrics that decide, the first that a line has.
    pub metrics: Vec<String>,
    /// What the values are, where that is not a metric's name; empty if it is.
    pub measure: String,
    /// The unit of the deciding values.
    pub unit: String,
    /// Which way they are better.
    pub better: Better,
    /// The day that it is of; `null`: whatever is known.
    pub as_of: Option<String>,
    /// What the lines are ordered by; `null`: as the source printed them.
    pub ordered_by: Option<Basis>,
    /// The columns.
    pub columns: Vec<Column>,
    /// The lines, better first; without a value last.
    pub lines: Vec<Line>,
    /// How many lines there are with those that [`Query::top`] cut off.
    pub lines_in_all: usize,
    /// What is not in it, and why.
    pub excluded: Excluded,
    /// The documents that the lines are quoted from.
    pub sources: Vec<Source>,
    /// What must be known to read it; empty if nothing.
    pub note: String,
    /// Whose trademarks stand in it; empty if nobody's.
    pub trademark: String,
    /// What the checks say of it.
    pub findings: Vec<Finding>,
    /// Who leads in total by question, also where that line was cut off or another order was asked for.
    #[serde(skip)]
    pub leaders_in_total: Vec<(String, Entry)>,
}

/// Rows that are not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Excluded {
    /// Rows of later days.
    pub later: usize,
    /// Rows without a date, left out because a day was asked for.
    pub undated: usize,
    /// Older printings of a result that is shown.
    pub superseded: usize,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// Its key in JSON and CSV.
    pub key: String,
    /// Its title.
    pub title: String,
    /// What stands in it.
    pub role: Role,
}

/// What stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Words of a row.
    Words,
    /// A number of a row that describes the system.
    Count,
    /// A result.
    Value,
    /// A number computed here from results and counts.
    Derived,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// What its deciding value answers: benchmark and metric. Places are among the lines of one question.
    pub question: String,
    /// Its place, from 1, equal values sharing one; `null` without a value or an order.
    pub rank: Option<usize>,
    /// Where its values come from.
    pub kind: Kind,
    /// A cell a column; `null` where nothing was printed or recorded.
    pub cells: Vec<Option<Cell>>,
    /// The deciding value with what it can be divided by; `null` where no deciding value is there.
    pub entry: Option<Entry>,
    /// The rows behind it, or the run.
    pub ids: Vec<String>,
    /// The documents, or the run.
    pub sources: Vec<String>,
    /// The day that its deciding value is of.
    pub as_of: Option<String>,
}

/// What stands in a line under a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// As it is shown: with the digits that were printed.
    pub text: String,
    /// The number, in full; `null` for words.
    pub value: Option<f64>,
    /// How it was computed; `null` for what was printed.
    pub formula: Option<String>,
}

impl Landscape {
    /// What must stand above the table: what it is, its kinds, its day.
    pub fn heading(&self) -> String {
        let day = self.as_of.as_ref().map(|d| format!(" as of {d}")).unwrap_or_default();
        let kinds = match (self.has(Kind::Quoted), self.has(Kind::Measured)) {
            (true, true) => format!("quoted results{day} beside measured ones"),
            (false, true) => "measured results".to_owned(),
            _ => format!("quoted results{day}"),
        };
        format!("{}: {kinds}", self.title)
    }

    /// What its values are: metric, unit, direction, order.
    pub fn measure(&self) -> String {
        let name = if self.measure.is_empty() {
            self.metrics.join(", else ")
        } else {
            self.measure.clone()
        };
        let mut parts = vec![name];
        // A unit that is the last word of the metric, or a bare score, says nothing more.
        if !parts[0].ends_with(&self.unit) && self.unit != "score" {
            parts[0] = format!("{} in {}", parts[0], self.unit);
        }
        if !self.better.words().is_empty() {
            parts.push(self.better.words().to_owned());
        }
        parts.push(match self.ordered_by {
            _ if self.tables().len() > 1 => "a table for each question".to_owned(),
            Some(Basis::Total) => "the better first".to_owned(),
            Some(per) => format!("the better {per} first"),
            None => "in the order of the source".to_owned(),
        });
        parts.join("; ")
    }

    /// What is not in the table, a sentence each.
    pub fn omissions(&self) -> Vec<String> {
        let rows = |n: usize| if n == 1 { "1 row".to_owned() } else { format!("{n} rows") };
        let mut out = Vec::new();
        let cut = self.lines_in_all - self.lines.len();
        if cut > 0 {
            out.push(format!("{cut} of {} lines are not shown.", self.lines_in_all));
        }
        if self.excluded.later > 0 {
            out.push(format!("{} of later days left out.", rows(self.excluded.later)));
        }
        if self.excluded.undated > 0 {
            out.push(format!("{} without a date left out.", rows(self.excluded.undated)));
        }
        if self.excluded.superseded > 0 {
            let n = self.excluded.superseded;
            out.push(format!("{} superseded by newer printings of the same results.", rows(n)));
        }
        out
    }

    /// Which columns were computed here; `None` if none was.
    pub fn derived(&self) -> Option<String> {
        let titles: Vec<&str> = self
            .columns
            .iter()
            .filter(|c| c.role == Role::Derived)
            .map(|c| c.title.as_str())
            .collect();
        (!titles.is_empty() && !self.lines.is_empty())
            .then(|| format!("Computed here from the numbers of the line: {}.", titles.join(", ")))
    }

    /// Whether a line is of this kind.
    pub fn has(&self, kind: Kind) -> bool {
        self.lines.iter().any(|l| l.kind == kind)
    }

    /// Whether quoted and measured lines stand in one table, so that every line must say which it is.
    pub fn mixed(&self) -> bool {
        self.has(Kind::Measured) && self.has(Kind::Quoted)
    }

    /// The tables that it is: the lines of one question each, where they have an order.
    pub fn tables(&self) -> Vec<(&str, Vec<&Line>)> {
        let mut out: Vec<(&str, Vec<&Line>)> = Vec::new();
        for line in &self.lines {
            let own = if self.ordered_by.is_some() { line.question.as_str() } else { "" };
            match out.iter_mut().find(|(q, _)| *q == own) {
                Some((_, lines)) => lines.push(line),
                None => out.push((own, vec![line])),
            }
        }
        out
    }

    /// Keeps so many lines of each table; the others are counted as not shown.
    pub fn cut(&mut self, top: usize) {
        let ordered = self.ordered_by.is_some();
        let mut kept: Vec<(String, usize)> = Vec::new();
        self.lines.retain(|line| {
            let own = if ordered { line.question.as_str() } else { "" };
            if let Some((_, n)) = kept.iter_mut().find(|(q, _)| q == own) {
                *n += 1;
                return *n <= top;
            }
            kept.push((own.to_owned(), 1));
            top > 0
        });
    }

    /// The systems by all denominators; those of one question are ranked with each other.
    pub fn matrix(&self) -> Matrix {
        let tables = self.tables();
        let of = |lines: &[&Line]| -> Vec<Entry> {
            lines.iter().filter_map(|l| l.entry.clone()).collect()
        };
        let [(_, _), _, ..] = tables.as_slice() else { return matrix(&self.entries()) };
        let whole = matrix(&self.entries());
        let mut out = Matrix { rows: Vec::new(), ..whole };
        for (question, lines) in &tables {
            let own = matrix(&of(lines));
            let short = question.rsplit(": ").next().unwrap_or(question);
            for mut row in own.rows {
                let cell = |basis: &Basis| {
                    let at = own.bases.iter().position(|b| b == basis)?;
                    row.cells[at].clone()
                };
                let cells = out.bases.iter().map(cell).collect();
                row.cells = cells;
                row.label = format!("{}: {short}", row.label);
                out.rows.push(row);
            }
        }
        out
    }

    /// The lines that have a deciding value, as entries.
    pub fn entries(&self) -> Vec<Entry> {
        self.lines.iter().filter_map(|l| l.entry.clone()).collect()
    }

    /// Where the place of the leader under `claimed` is another's under another basis.
    pub fn reversals(&self, claimed: Basis) -> Vec<Reversal> {
        if self.ordered_by != Some(claimed) {
            return Vec::new();
        }
        let mut out = Vec::new();
        for (question, lines) in self.tables() {
            let entries: Vec<&Entry> = lines.iter().filter_map(|l| l.entry.as_ref()).collect();
            let Some(leader) = entries.iter().find(|e| e.number(claimed).is_some()) else {
                continue;
            };
            // Against the one that leads in total first: that turn says the most.
            let absent = |e: &&Entry| !entries.iter().any(|other| other.value == e.value);
            let in_total =
                self.leaders_in_total.iter().filter(|(q, _)| q == question).map(|(_, e)| e);
            let mut others: Vec<&Entry> =
                entries.iter().copied().chain(in_total.filter(absent)).collect();
            others.sort_by(|a, b| better_first(self.better, a.value.value, b.value.value));
            out.extend(others.into_iter().flat_map(|other| reversals_from(leader, other, claimed)));
        }
        out
    }

    /// Adds the findings of the checks on the requested denominators: what they count, where watts
    /// and prices come from, whether the order turns round under another, whether derived columns
    /// are marked.
    pub fn check_denominators(
        &mut self,
        per: &[Denominator],
        matrix_shown: bool,
        profile: Profile,
    ) {
        let entries = self.entries();
        let mut found = judge(&rows::DERIVED_MARKED, &self.derived_columns());
        if let Some(claimed) = self.ordered_by.filter(|_| !per.is_empty()) {
            let several = self.matrix().bases.len() > 1;
            let turns = turned(claimed, &self.reversals(claimed), several, matrix_shown);
            found.extend(judge(&rows::RANKING_FLIPS, &turns));
        }
        for d in per {
            let evidence = divided(&entries, Basis::Per(*d));
            for row in [&rows::DENOMINATOR_DEFINED, &rows::POWER_MEASURED, &rows::PRICE_BASIS] {
                found.extend(judge(row, &evidence));
            }
        }
        self.findings.extend(found.into_iter().map(|f| f.in_profile(profile)));
    }

    /// How the columns that were computed here are presented.
    fn derived_columns(&self) -> Evidence {
        let base_nearby = self.columns.iter().any(|c| c.role == Role::Value);
        let derived = self.columns.iter().filter(|c| c.role == Role::Derived);
        let numbers: Vec<NumberEvidence> = derived
            .map(|c| NumberEvidence {
                what: format!("the column `{}`", c.title),
                kind: Some(Kind::Derived),
                derivation: Some(Derivation {
                    // A sentence under the table names them.
                    marked: true,
                    shown_as_official: self.metrics.contains(&c.title),
                    base_nearby,
                }),
                ..NumberEvidence::default()
            })
            .collect();
        Evidence { numbers: Known::Is(numbers), ..Evidence::default() }
    }
}
