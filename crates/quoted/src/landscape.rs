//! Landscapes: tables of results ranked under a denominator. A [`Definition`]
//! (`published/landscapes.toml`) describes a table as data, a [`Collection`] supplies the results,
//! and a [`Query`] selects the day, the denominators and the number of lines.

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

use assay_checks::{Derivation, Evidence, NumberEvidence, RecordedValue, judge, rows};
use assay_model::{Better, Finding, MetricKind, Profile};
use serde::Serialize;

use crate::denominator::{
    Basis, Denominator, Matrix, Reversal, SystemResult, better_first, divided, matrix,
    reversals_from, turned,
};
use crate::quoted::QuotedSource;

pub use collection::{Collection, Listing};
pub use columns::{counts, entry, question};
pub use definition::{ColumnSpec, Definition, Filter, WordPattern, read_definitions};
pub use error::LandscapeError;
pub use measured::{MeasuredLine, measured};

/// Selection of a landscape's rows, columns and order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// Day on which results must already have been true (`2009-08-27`); `None` for the definition's
    /// day, or all results if it has none.
    pub as_of: Option<String>,
    /// Denominators that get a column each; the first one determines the order.
    pub per: Vec<Denominator>,
    /// Metric to show; required if a file without a definition has several.
    pub metric: Option<String>,
    /// Maximum number of lines in each table; further lines are only counted.
    pub top: Option<usize>,
}

/// A table of results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Landscape {
    pub name: String,
    /// Title of the table; [`Landscape::heading`] adds what must be printed above the table.
    pub title: String,
    /// Benchmarks whose results are in the table.
    pub benchmarks: Vec<String>,
    /// Deciding metrics; a line is ranked by the first of them that it has.
    pub metrics: Vec<String>,
    /// Description of the values where a metric's name is not enough; else empty.
    pub measure: String,
    /// Unit of the deciding values.
    pub unit: String,
    /// Direction in which the deciding values improve.
    pub better: Better,
    /// Day of the landscape; `null` for all known results.
    pub as_of: Option<String>,
    /// Basis of the order; `null` for the order of the source.
    pub ordered_by: Option<Basis>,
    pub columns: Vec<LandscapeColumn>,
    /// Lines from best to worst, then lines without a value.
    pub lines: Vec<LandscapeLine>,
    /// Number of lines including those that [`Query::top`] cut off.
    pub lines_in_all: usize,
    /// Counts of the rows that are not shown.
    pub excluded: ExcludedRows,
    /// Documents that the lines are quoted from.
    pub sources: Vec<QuotedSource>,
    /// Note that readers need to understand the table; may be empty.
    pub note: String,
    /// Statement about trademarks in the table; may be empty.
    pub trademark: String,
    /// Findings of the checks about the table.
    pub findings: Vec<Finding>,
    /// Leader in total of each question, even if its line was cut off or another order was
    /// requested.
    #[serde(skip)]
    pub leaders_in_total: Vec<(String, SystemResult)>,
}

/// Counts of rows that are not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ExcludedRows {
    /// Rows with a later date.
    pub later: usize,
    /// Rows without a date, which are excluded if a day was requested.
    pub undated: usize,
    /// Older printings of a result that is shown.
    pub superseded: usize,
}

/// A column of a landscape.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LandscapeColumn {
    /// Key of the column in JSON and CSV.
    pub key: String,
    pub title: String,
    /// Kind of the column's contents.
    pub role: ColumnRole,
}

/// Kind of a column's contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnRole {
    /// Texts of a row.
    Words,
    /// Numbers of a row that describe the system.
    Count,
    Value,
    /// Numbers computed here from results and counts.
    Derived,
}

/// A line of a landscape.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LandscapeLine {
    /// Benchmark and metric of the deciding value. Lines are ranked among those with the same
    /// question.
    pub question: String,
    /// Rank from 1; equal values share a rank. `null` without a value or an order.
    pub rank: Option<usize>,
    /// Origin of the values: measured or quoted.
    pub kind: MetricKind,
    /// Cells in the order of the columns; `null` where nothing was printed or recorded.
    pub cells: Vec<Option<LandscapeCell>>,
    /// Deciding value with the amounts by which it can be divided; `null` without a deciding value.
    pub entry: Option<SystemResult>,
    /// Ids of the quoted rows, or of the run.
    pub ids: Vec<String>,
    /// Sources of the rows, or the run.
    pub sources: Vec<String>,
    /// Day of the deciding value.
    pub as_of: Option<String>,
}

/// Contents of one cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LandscapeCell {
    /// Text as shown, with the digits of the source.
    pub text: String,
    /// Unrounded number; `null` for words.
    pub value: Option<f64>,
    /// Formula of a computed value; `null` for a printed one.
    pub formula: Option<String>,
}

impl Landscape {
    /// Returns the heading that must be printed above the table: title, kinds of results, day.
    pub fn heading(&self) -> String {
        let day = self.as_of.as_ref().map(|d| format!(" as of {d}")).unwrap_or_default();
        let kinds = match (self.has(MetricKind::Quoted), self.has(MetricKind::Measured)) {
            (true, true) => format!("quoted results{day} and measured ones"),
            (false, true) => "measured results".to_owned(),
            _ => format!("quoted results{day}"),
        };
        format!("{}: {kinds}", self.title)
    }

    /// Describes the values: metric, unit, direction, order.
    pub fn measure(&self) -> String {
        let name = if self.measure.is_empty() {
            self.metrics.join(", else ")
        } else {
            self.measure.clone()
        };
        let mut parts = vec![name];
        // A unit that ends the metric's name, or a bare score, adds no information.
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

    /// Describes the rows that are missing from the table, one sentence for each reason.
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

    /// Names the columns that were computed here; `None` if there are no such columns.
    pub fn derived(&self) -> Option<String> {
        let titles: Vec<&str> = self
            .columns
            .iter()
            .filter(|c| c.role == ColumnRole::Derived)
            .map(|c| c.title.as_str())
            .collect();
        (!titles.is_empty() && !self.lines.is_empty())
            .then(|| format!("Computed here from the numbers of the line: {}.", titles.join(", ")))
    }

    /// Returns true if any line is of this kind.
    pub fn has(&self, kind: MetricKind) -> bool {
        self.lines.iter().any(|l| l.kind == kind)
    }

    /// Returns true if quoted and measured lines share a table, so that every line must be
    /// labelled.
    pub fn mixed(&self) -> bool {
        self.has(MetricKind::Measured) && self.has(MetricKind::Quoted)
    }

    /// Splits the lines into tables that are ranked separately: one for each question, or a single
    /// one if the lines have no order.
    pub fn tables(&self) -> Vec<(&str, Vec<&LandscapeLine>)> {
        let mut out: Vec<(&str, Vec<&LandscapeLine>)> = Vec::new();
        for line in &self.lines {
            let own = if self.ordered_by.is_some() { line.question.as_str() } else { "" };
            match out.iter_mut().find(|(q, _)| *q == own) {
                Some((_, lines)) => lines.push(line),
                None => out.push((own, vec![line])),
            }
        }
        out
    }

    /// Keeps at most `top` lines of each table; `lines_in_all` still counts the others.
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

    /// Builds the matrix of the systems by all denominators; each question is ranked separately.
    pub fn matrix(&self) -> Matrix {
        let tables = self.tables();
        let of = |lines: &[&LandscapeLine]| -> Vec<SystemResult> {
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

    /// Returns the entries of the lines that have a deciding value.
    pub fn entries(&self) -> Vec<SystemResult> {
        self.lines.iter().filter_map(|l| l.entry.clone()).collect()
    }

    /// Returns the cases in which another system is ahead of the leader under `claimed` on another
    /// basis.
    pub fn reversals(&self, claimed: Basis) -> Vec<Reversal> {
        if self.ordered_by != Some(claimed) {
            return Vec::new();
        }
        let mut out = Vec::new();
        for (question, lines) in self.tables() {
            let entries: Vec<&SystemResult> =
                lines.iter().filter_map(|l| l.entry.as_ref()).collect();
            let Some(leader) = entries.iter().find(|e| e.number(claimed).is_some()) else {
                continue;
            };
            // Compare with the leader in total first: that reversal is the most informative one.
            let absent = |e: &&SystemResult| !entries.iter().any(|other| other.value == e.value);
            let in_total =
                self.leaders_in_total.iter().filter(|(q, _)| q == question).map(|(_, e)| e);
            let mut others: Vec<&SystemResult> =
                entries.iter().copied().chain(in_total.filter(absent)).collect();
            others.sort_by(|a, b| better_first(self.better, a.value.value, b.value.value));
            out.extend(others.into_iter().flat_map(|other| reversals_from(leader, other, claimed)));
        }
        out
    }

    /// Adds the findings of the checks on the requested denominators: which parts are counted,
    /// where watts and prices come from, whether the ranking reverses under another denominator,
    /// and whether derived columns are marked.
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

    /// Builds the evidence about the presentation of computed columns.
    fn derived_columns(&self) -> Evidence {
        let base_nearby = self.columns.iter().any(|c| c.role == ColumnRole::Value);
        let derived = self.columns.iter().filter(|c| c.role == ColumnRole::Derived);
        let numbers: Vec<NumberEvidence> = derived
            .map(|c| NumberEvidence {
                what: format!("the column `{}`", c.title),
                kind: Some(MetricKind::Derived),
                derivation: Some(Derivation {
                    // The sentence from `derived`, printed under the table, names them.
                    marked: true,
                    shown_as_official: self.metrics.contains(&c.title),
                    base_nearby,
                }),
                ..NumberEvidence::default()
            })
            .collect();
        Evidence { numbers: RecordedValue::Is(numbers), ..Evidence::default() }
    }
}
