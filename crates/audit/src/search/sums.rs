//! Readings that add up or average the cells of a row or column: one sum, or two that stand for each other.

use super::book::Place;
use super::called::Called;
use super::derived::Sheet;
use super::model::{self, COUNT, F};
use super::reading::{Reading, View};
use super::say::What;
use super::words::Match;
use crate::evidence::amount::{Amount, Dimension};
use crate::evidence::bind::Side;
use crate::evidence::grid::{At, Better, Grid};

/// At most so many values are summed up.
const MAX_SUM: usize = 40;

/// The sum or the mean of cells of one unit, with their values as printed.
fn added(grid: &Grid, own: &[At], mean: bool) -> Option<(Amount, Vec<f64>)> {
    if !(2..=MAX_SUM).contains(&own.len()) {
        return None;
    }
    let amounts: Vec<Amount> = own.iter().map(|at| grid.amount(*at)).collect::<Option<_>>()?;
    let first = amounts.first()?;
    if amounts.iter().any(|a| a.dimension() != first.dimension()) {
        return None;
    }
    let n = if mean { amounts.len() as f64 } else { 1.0 };
    let value = amounts.iter().map(|a| a.value).sum::<f64>() / n;
    let step = amounts.iter().map(|a| a.step).fold(0.0, f64::max);
    let amount =
        Amount { value, step, measure: first.measure, printed: value / first.measure.scale };
    Some((amount, amounts.iter().map(|a| a.printed).collect()))
}

impl View<'_> {
    /// Whether its clause has one of these words.
    pub(super) fn has(&self, words: &[&str]) -> bool {
        self.tokens[self.say.clause.clone()].iter().any(|t| words.contains(&t.lower.as_str()))
    }

    pub(super) fn sums(&self, t: &Sheet<'_>, out: &mut Vec<Reading>) {
        let two = matches!(self.say.what, What::Two(..));
        if self.say.stated().is_some() || two {
            let sum = self.has(&[
                "total",
                "together",
                "sum",
                "summed",
                "altogether",
                "combined",
                "all",
                "overall",
                "add",
                "adds",
                "whole",
            ]) || self.counts_all(t);
            let mean = self.has(&["average", "averages", "mean", "averaged", "averaging"]);
            if (sum || mean) && two {
                self.sums_of_two(t, mean, out);
            } else if sum || mean {
                self.sums_of_one(t, mean, out);
            }
        }
    }

    /// "the five tiers draw 26 kW": as many as there are rows.
    fn counts_all(&self, t: &Sheet<'_>) -> bool {
        let rows = self.book.grids[t.g].bodies().count();
        self.say.clause.clone().any(|i| {
            matches!(self.word(i), "the" | "all" | "these" | "our")
                && self
                    .tokens
                    .get(i + 1)
                    .and_then(|t| t.quantity())
                    .is_some_and(|n| n.unit.is_none() && rows > 1 && n.value == rows as f64)
                && self.tokens.get(i + 2).is_some_and(|t| t.is_word() && t.lower.ends_with('s'))
        })
    }

    fn sums_of_one(&self, t: &Sheet<'_>, mean: bool, out: &mut Vec<Reading>) {
        let grid = &self.book.grids[t.g];
        let mut add = |side: Side, own: Vec<At>, name: usize, all: bool| {
            let Some((amount, values)) = added(grid, &own, mean) else { return };
            let percent = self.say.what == What::Percent;
            if percent && amount.dimension() != Dimension::Percent || !self.fits(amount) {
                return;
            }
            let mut f = Box::new(*t.common);
            if percent {
                f[model::extra(F::BarePercent)] = 1.0;
            }
            let (m, eligible) = match side {
                Side::Columns => (t.columns, t.some_columns),
                Side::Rows => (t.rows, t.some_rows),
            };
            View::slot(&mut f, 2, m, name, None, eligible);
            let names = [Called::NOTHING, Called::NOTHING, self.book.called(t.g, side, name)];
            out.push(self.sum(t, (mean, all), (amount, None), (own, values), f, names));
        };
        for (side, cells, name, all) in self.lines(t) {
            add(side, cells, name, all);
        }
    }

    /// "In total the four stages went from 27 to 17 ms": the sums of two columns or rows.
    fn sums_of_two(&self, t: &Sheet<'_>, mean: bool, out: &mut Vec<Reading>) {
        let grid = &self.book.grids[t.g];
        let lines: Vec<_> = self
            .lines(t)
            .into_iter()
            .filter_map(|(side, cells, name, all)| {
                let (amount, values) = added(grid, &cells, mean)?;
                self.fits(amount).then_some((side, cells, name, all, amount, values))
            })
            .collect();
        if lines.len() > 2 * MAX_SUM {
            return;
        }
        for (side, cells, x, all, a, values) in &lines {
            for (_, more, y, _, b, other) in
                lines.iter().filter(|l| l.0 == *side && l.2 != *x && l.3 == *all)
            {
                if !a.dimension().fits(b.dimension()) {
                    continue;
                }
                let mut f = Box::new(*t.common);
                let (m, eligible) = match side {
                    Side::Columns => (t.columns, t.some_columns),
                    Side::Rows => (t.rows, t.some_rows),
                };
                let ages = &self.book.labels_of(t.g, *side).age;
                View::slot(&mut f, 0, m, *x, Some(*y), eligible);
                View::slot(&mut f, 1, m, *y, Some(*x), eligible);
                if *side == Side::Columns {
                    f[model::extra(F::Columns)] = 1.0;
                }
                if ages[*x] < ages[*y] {
                    f[model::extra(F::NewOld)] = 1.0;
                }
                let called = |i: usize| self.book.called(t.g, *side, i);
                let names = [called(*x), called(*y), Called::NOTHING];
                let cells = cells.iter().chain(more).copied().collect();
                let values = values.iter().chain(other).copied().collect();
                out.push(self.sum(t, (mean, *all), (*a, Some(*b)), (cells, values), f, names));
            }
        }
    }

    /// A reading of one sum or of two, with the cells and values that they are of.
    fn sum(
        &self,
        t: &Sheet<'_>,
        (mean, all): (bool, bool),
        (a, b): (Amount, Option<Amount>),
        (cells, values): (Vec<At>, Vec<f64>),
        mut f: Box<[f64; COUNT]>,
        names: [Called; 3],
    ) -> Reading {
        f[model::extra(if mean { F::Mean } else { F::Sum })] = 1.0;
        f[model::extra(if all { F::SumAll } else { F::SumSome })] = 1.0;
        if let Some(first) = cells.first() {
            self.metric_of(&mut f, t.g, (t.rows, t.columns), *first, a);
        }
        let places = cells.iter().map(|at| Place::Cell { grid: t.g, at: *at }).collect();
        Reading { derived: Some(values), ..Reading::of(a, b, places, Better::Unknown, f, names) }
    }

    /// The cells that may be added up: of each column and row, all of them and those that are spoken of.
    fn lines(&self, t: &Sheet<'_>) -> Vec<(Side, Vec<At>, usize, bool)> {
        let grid = &self.book.grids[t.g];
        let named = |m: &Match, i: &usize| {
            (0..3).any(|z| m.found[z][*i] > 0.5 * m.total[*i] && m.total[*i] > 0.0)
        };
        let bodies: Vec<usize> = grid.bodies().collect();
        let rows: Vec<usize> = bodies.iter().copied().filter(|r| named(t.rows, r)).collect();
        let columns: Vec<usize> =
            t.some_columns.iter().copied().filter(|c| named(t.columns, c)).collect();
        let mut found = Vec::new();
        for &column in t.some_columns {
            let cells = |rows: &[usize]| rows.iter().map(|&row| At { row, column }).collect();
            found.push((Side::Columns, cells(&bodies), column, true));
            if rows.len() >= 2 && rows.len() < bodies.len() {
                found.push((Side::Columns, cells(&rows), column, false));
            }
        }
        for &row in t.some_rows {
            let cells =
                |columns: &[usize]| columns.iter().map(|&column| At { row, column }).collect();
            found.push((Side::Rows, cells(t.some_columns), row, true));
            if columns.len() >= 2 && columns.len() < t.some_columns.len() {
                found.push((Side::Rows, cells(&columns), row, false));
            }
        }
        found
    }
}
