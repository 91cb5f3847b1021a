//! Readings that are computed from a table: sums, one column over another, cells beside amounts of the prose.

use super::book::Place;
use super::called::Called;
use super::model::{self, COUNT, F};
use super::reading::{Reading, View, better};
use super::say::What;
use super::words::Match;
use crate::evidence::bind::Side;
use crate::evidence::grid::At;

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

impl View<'_> {
    pub(super) fn derived(&self, t: &Sheet<'_>, out: &mut Vec<Reading>) {
        self.sums(t, out);
        self.quotients(t, out);
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
                    let called = |side: Side, i: usize| self.book.called(t.g, side, i);
                    let names = [Called::NOTHING, called(Side::Rows, r), called(Side::Columns, c)];
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
