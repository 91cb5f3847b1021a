//! Readings that are computed from a table: one column over another, sums and means, cells beside amounts of the prose.

use super::book::Place;
use super::model::{self, COUNT, F};
use super::reading::{Reading, View, better};
use super::say::What;
use super::words::Match;
use crate::evidence::amount::{Amount, Dimension};
use crate::evidence::bind::Side;
use crate::evidence::grid::{At, Better};

/// A table as readings are made from it.
pub(super) struct Sheet<'a> {
    pub g: usize,
    pub rows: &'a Match,
    pub columns: &'a Match,
    pub common: &'a [f64; COUNT],
    pub some_rows: &'a [usize],
    pub some_columns: &'a [usize],
}

impl<'a> Sheet<'a> {
    /// What is compared along a side and what all of these share: how their names match, and which of them.
    pub(super) fn along(&self, side: Side) -> (&'a Match, &'a Match, &'a [usize], &'a [usize]) {
        match side {
            Side::Rows => (self.rows, self.columns, self.some_rows, self.some_columns),
            Side::Columns => (self.columns, self.rows, self.some_columns, self.some_rows),
        }
    }
}

/// At most so many values are summed up.
const MAX_SUM: usize = 40;

impl View<'_> {
    fn has(&self, words: &[&str]) -> bool {
        self.tokens[self.say.clause.clone()].iter().any(|t| words.contains(&t.lower.as_str()))
    }

    pub(super) fn derived(&self, t: &Sheet<'_>, out: &mut Vec<Reading>) {
        if self.say.stated().is_some() {
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
            ]);
            let mean = self.has(&["average", "averages", "mean", "averaged", "averaging"]);
            if sum || mean {
                self.sums(t, mean, out);
            }
        }
        self.quotients(t, out);
    }

    fn sums(&self, t: &Sheet<'_>, mean: bool, out: &mut Vec<Reading>) {
        let grid = &self.book.grids[t.g];
        let mut add = |side: Side, own: Vec<At>, name: usize, all: bool| {
            let amounts: Vec<Amount> = own.iter().filter_map(|at| grid.amount(*at)).collect();
            let Some(first) = amounts.first() else { return };
            if amounts.len() < 2
                || amounts.len() != own.len()
                || amounts.len() > MAX_SUM
                || amounts.iter().any(|a| a.dimension() != first.dimension())
            {
                return;
            }
            let n = if mean { amounts.len() as f64 } else { 1.0 };
            let value = amounts.iter().map(|a| a.value).sum::<f64>() / n;
            let step = amounts.iter().map(|a| a.step).fold(0.0, f64::max);
            let amount = Amount {
                value,
                step,
                measure: first.measure,
                printed: value / first.measure.scale,
            };
            let percent = self.say.what == What::Percent;
            if percent && amount.dimension() != Dimension::Percent || !self.fits(amount) {
                return;
            }
            let mut f = Box::new(*t.common);
            if percent {
                f[model::extra(F::BarePercent)] = 1.0;
            }
            f[model::extra(if mean { F::Mean } else { F::Sum })] = 1.0;
            f[model::extra(if all { F::SumAll } else { F::SumSome })] = 1.0;
            let (m, eligible, axis) = match side {
                Side::Columns => (t.columns, t.some_columns, &grid.columns),
                Side::Rows => (t.rows, t.some_rows, &grid.rows),
            };
            View::slot(&mut f, 2, m, name, None, eligible);
            self.metric_of(&mut f, t.g, (t.rows, t.columns), own[0], amount);
            let names = [String::new(), String::new(), axis.names[name].text.clone()];
            out.push(Reading {
                derived: Some(amounts.iter().map(|a| a.printed).collect()),
                ..Reading::of(
                    amount,
                    None,
                    own.iter().map(|at| Place::Cell { grid: t.g, at: *at }).collect(),
                    Better::Unknown,
                    f,
                    names,
                )
            });
        };
        let named = |m: &Match, i: &usize| {
            (0..3).any(|z| m.found[z][*i] > 0.5 * m.total[*i] && m.total[*i] > 0.0)
        };
        let bodies: Vec<usize> = grid.bodies().collect();
        let rows: Vec<usize> = bodies.iter().copied().filter(|r| named(t.rows, r)).collect();
        let columns: Vec<usize> =
            t.some_columns.iter().copied().filter(|c| named(t.columns, c)).collect();
        for &c in t.some_columns {
            let cells =
                |rows: &[usize]| rows.iter().map(|r| At { row: *r, column: c }).collect::<Vec<_>>();
            add(Side::Columns, cells(&bodies), c, true);
            if rows.len() >= 2 && rows.len() < bodies.len() {
                add(Side::Columns, cells(&rows), c, false);
            }
        }
        for &r in t.some_rows {
            let cells = |columns: &[usize]| {
                columns.iter().map(|c| At { row: r, column: *c }).collect::<Vec<_>>()
            };
            add(Side::Rows, cells(t.some_columns), r, true);
            if columns.len() >= 2 && columns.len() < t.some_columns.len() {
                add(Side::Rows, cells(&columns), r, false);
            }
        }
    }

    /// An amount that the sentence states, beside a cell: "61.4k IOPS, a third of its normal rate".
    pub(super) fn with_prose(&self, t: &Sheet<'_>, out: &mut Vec<Reading>) {
        if !matches!(self.say.what, What::Percent | What::Times | What::Delta(_))
            || t.some_rows.len() * t.some_columns.len() > 150
        {
            return;
        }
        let grid = &self.book.grids[t.g];
        let facts: Vec<_> = self
            .book
            .facts
            .iter()
            .filter(|f| {
                !f.bare
                    && f.sentence <= self.sentence
                    && self.sentence - f.sentence <= 1
                    && f.at
                        < if f.sentence == self.sentence { self.say.own.start } else { usize::MAX }
            })
            .collect();
        for fact in facts.iter().rev().take(3) {
            if !self.fits(fact.amount) {
                continue;
            }
            for &r in t.some_rows {
                for &c in t.some_columns {
                    let cell = At { row: r, column: c };
                    let Some(b) = grid.amount(cell) else { continue };
                    if !fact.amount.dimension().fits(b.dimension())
                        || super::reading::same(b, fact.amount)
                    {
                        continue;
                    }
                    if !t.rows.there(r) && !t.columns.there(c) {
                        continue;
                    }
                    let mut f = Box::new(*t.common);
                    f[model::extra(F::ProseCell)] = 1.0;
                    if fact.sentence == self.sentence {
                        f[model::extra(F::ProseCellSame)] = 1.0;
                    }
                    View::slot(&mut f, 1, t.rows, r, None, t.some_rows);
                    View::slot(&mut f, 2, t.columns, c, None, t.some_columns);
                    self.metric_of(&mut f, t.g, (t.rows, t.columns), cell, b);
                    View::apart(&mut f, fact.amount, b);
                    let names = [
                        String::new(),
                        grid.rows.names[r].text.clone(),
                        grid.columns.names[c].text.clone(),
                    ];
                    let places = vec![fact.place(), Place::Cell { grid: t.g, at: cell }];
                    let again = self.last_of(&mut f, &names, &places, [true; 3]);
                    out.push(Reading {
                        again,
                        ..Reading::of(fact.amount, Some(b), places, better(grid, cell, b), f, names)
                    });
                }
            }
        }
    }
}
