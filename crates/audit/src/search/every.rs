//! Readings of which way all the values of two columns or rows go: one alone, or every one.

use super::book::Place;
use super::called::Called;
use super::derived::Sheet;
use super::model::{self, COUNT, F};
use super::reading::{Reading, View, better};
use super::say::What;
use crate::detect::pointing::Way;
use crate::evidence::amount::{Amount, Dimension};
use crate::evidence::bind::{Side, at};
use crate::evidence::grid::{Better, Grid};

/// Whether a value goes a way from the first amount to the second; `None` if it is not known which is better.
fn goes(way: Way, better: Better, from: Amount, to: Amount) -> Option<bool> {
    let up = match (way, better) {
        (Way::More | Way::Of, _) | (Way::Faster, Better::More) | (Way::Slower, Better::Less) => {
            true
        }
        (Way::Less, _) | (Way::Faster, Better::Less) | (Way::Slower, Better::More) => false,
        _ => return None,
    };
    Some(if up { to.value > from.value } else { to.value < from.value })
}

/// Two amounts of one row or column that can be compared.
fn both(grid: &Grid, side: Side, i: usize, (x, y): (usize, usize)) -> Option<(Amount, Amount)> {
    let (a, b) = (grid.amount(at(side, i, x))?, grid.amount(at(side, i, y))?);
    a.dimension().fits(b.dimension()).then_some((a, b))
}

/// At most so many columns are paired, and so many values are gone through for each pair.
const MAX_PAIRED: usize = 6;
const MAX_EACH: usize = 14;

impl View<'_> {
    /// What goes a way from one column to another, where nothing else does.
    pub(super) fn alone(&self, t: &Sheet<'_>, way: Way, out: &mut Vec<Reading>) {
        let grid = &self.book.grids[t.g];
        // "the only latency that got worse": among the latencies.
        let kind = self.say.own.clone().find_map(|i| match self.word(i) {
            "latency" | "latencies" | "time" | "timing" | "timings" => Some(Dimension::Time),
            "size" | "sizes" => Some(Dimension::Bytes),
            _ => None,
        });
        for side in [Side::Rows, Side::Columns] {
            let (_, _, own, shared) = t.along(side);
            if shared.len() > MAX_PAIRED {
                continue;
            }
            let age = &self.book.labels_of(t.g, side.other()).age;
            let order = &self.book.labels[t.g][usize::from(side == Side::Rows)].order;
            for (k, &x) in shared.iter().enumerate() {
                for &y in &shared[k + 1..] {
                    // What is newer, or called so, is what the values went to.
                    let turned = age[x] > age[y] || order.of(x, y).is_some_and(|(_, later)| later);
                    let (from, to) = if turned { (y, x) } else { (x, y) };
                    let all: Vec<(usize, Amount, Amount, bool)> = own
                        .iter()
                        .filter_map(|&i| {
                            let (a, b) = both(grid, side, i, (from, to))?;
                            if kind.is_some_and(|kind| b.dimension() != kind) {
                                return None;
                            }
                            let goes = goes(way, better(grid, at(side, i, to), b), a, b)?;
                            Some((i, a, b, goes))
                        })
                        .collect();
                    let going = all.iter().filter(|(.., goes)| *goes).count();
                    if all.len() < 2 {
                        continue;
                    }
                    for (i, a, b, goes) in &all {
                        out.push(Reading {
                            // That others go the same way may be of values that are not meant.
                            rank: Some((*goes && going == 1, *goes && going > 1)),
                            ..self.moved(t, (side, *i), (from, to), (*a, *b), F::Change)
                        });
                    }
                }
            }
        }
    }

    /// One compared with another in all that they have: by the two values that speak most against it.
    pub(super) fn each_of(
        &self,
        t: &Sheet<'_>,
        side: Side,
        (x, y): (usize, usize),
        pair: &[f64; COUNT],
        out: &mut Vec<Reading>,
    ) {
        let (What::Beats, Some(way)) = (self.say.what, self.say.way) else { return };
        let says = self.tokens[self.say.clause.clone()]
            .iter()
            .any(|t| matches!(t.lower.as_str(), "every" | "all" | "both" | "each" | "everywhere"));
        let grid = &self.book.grids[t.g];
        let all: Vec<usize> = match side {
            Side::Rows => t.some_columns.to_vec(),
            Side::Columns => grid.bodies().collect(),
        };
        if !says || !(2..=MAX_EACH).contains(&all.len()) {
            return;
        }
        let values: Option<Vec<(usize, Amount, Amount)>> = all
            .iter()
            .map(|&s| {
                let (a, b) = (grid.amount(at(side, x, s))?, grid.amount(at(side, y, s))?);
                let cell = better(grid, at(side, x, s), a);
                (a.dimension().fits(b.dimension()) && goes(way, cell, b, a).is_some())
                    .then_some((s, a, b))
            })
            .collect();
        let Some(values) = values else { return };
        let against = values
            .iter()
            .find(|(s, a, b)| goes(way, better(grid, at(side, x, *s), *a), *b, *a) == Some(false));
        let Some(&(s, a, b)) = against.or(values.first()) else { return };
        let mut f = Box::new(*t.common);
        for (own, more) in f.iter_mut().zip(pair) {
            *own += more;
        }
        f[model::extra(F::MostEvery)] = 1.0;
        let cell = at(side, x, s);
        self.metric_of(&mut f, t.g, (t.rows, t.columns), cell, a);
        let called = |i: usize| self.book.called(t.g, side, i);
        let names = [called(x), called(y), Called::NOTHING];
        let place = |i: usize, s: usize| Place::Cell { grid: t.g, at: at(side, i, s) };
        let places = values.iter().flat_map(|(s, ..)| [place(x, *s), place(y, *s)]).collect();
        out.push(Reading {
            derived: Some(values.iter().flat_map(|(_, a, b)| [a.printed, b.printed]).collect()),
            ..Reading::of(a, Some(b), places, better(grid, cell, a), f, names)
        });
    }
}
