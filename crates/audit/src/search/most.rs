//! Ranks: what is the greatest or the least of a column or row, and of all of them ("last in both lists", "the fastest
//! at every size").

use std::rc::Rc;

use super::among::Among;
use super::book::Place;
use super::called::Called;
use super::derived::Sheet;
use super::model::{self, F};
use super::reading::{Reading, View, better, same};
use super::words::{self, Match, Zone};
use crate::evidence::amount::Amount;
use crate::evidence::bind::{Side, at};
use crate::evidence::extreme::Most;
use crate::evidence::grid::Better;

/// At most so many columns are meant by "every".
const MAX_SHARED: usize = 10;

impl View<'_> {
    /// What is the greatest or the least of its row or column, or comes after so many others.
    pub(super) fn most(&self, t: &Sheet<'_>, ask: Most, after: usize, out: &mut Vec<Reading>) {
        let (g, grid, common) = (t.g, &self.book.grids[t.g], t.common);
        for side in [Side::Rows, Side::Columns] {
            let (m_own, m_shared, own, shared) = t.along(side);
            for &s in shared {
                let mut values: Vec<(usize, Amount)> = Vec::new();
                let all: Vec<usize> = match side {
                    Side::Rows => grid.bodies().collect(),
                    Side::Columns => own.to_vec(),
                };
                for i in all {
                    if let Some(a) = grid.amount(at(side, i, s)) {
                        values.push((i, a));
                    }
                }
                if values.len() < 2
                    || side == Side::Columns
                        && values.iter().any(|(_, a)| !a.dimension().fits(values[0].1.dimension()))
                {
                    continue;
                }
                let place = |i: usize| Place::Cell { grid: g, at: at(side, i, s) };
                let cells = values.iter().map(|(i, a)| (*a, place(*i))).collect();
                let Some(among) = Among::new(cells, after).map(Rc::new) else { continue };
                let (top, low) = (among.greatest().0.value, among.least().0.value);
                // "the largest change" may be the one that fell most.
                if among.all.iter().any(|(a, _)| a.value > 0.0)
                    && among.all.iter().any(|(a, _)| a.value < 0.0)
                {
                    continue;
                }
                if own.iter().any(|i| self.is_of(m_own, *i)) {
                    continue;
                }
                for (i, amount) in &values {
                    if !own.contains(i) {
                        continue;
                    }
                    let cell = at(side, *i, s);
                    let mut f = Box::new(*common);
                    if side == Side::Columns {
                        f[model::extra(F::MostColumns)] = 1.0;
                    }
                    View::slot(&mut f, 0, m_own, *i, None, own);
                    View::slot(&mut f, 2, m_shared, s, None, shared);
                    self.metric_of(&mut f, t.g, (t.rows, t.columns), cell, *amount);
                    if f[model::extra(F::HardwareUnnamed)] > 0.0 {
                        continue;
                    }
                    self.money_of(&mut f, t.g, cell);
                    if self.printed.iter().any(|p| same(*p, *amount)) {
                        f[model::extra(F::MostPrinted)] = 1.0;
                    }
                    if matches!(ask, Most::Best | Most::Worst)
                        && grid.better[cell.column] == Better::Unknown
                    {
                        f[model::extra(F::MostUnit)] = 1.0;
                    }
                    let called = |side: Side, i: usize| self.book.called(t.g, side, i);
                    let names = [called(side, *i), Called::NOTHING, called(side.other(), s)];
                    let others = [
                        View::others(m_own, *i, None, own),
                        true,
                        View::others(m_shared, s, None, shared),
                    ];
                    self.last_of(&mut f, &names, &[], others);
                    out.push(Reading {
                        rank: Some(if after == 0 {
                            (amount.value >= top, amount.value <= low)
                        } else {
                            (amount.value == top, amount.value == low)
                        }),
                        among: Some(among.clone()),
                        ..Reading::of(
                            *amount,
                            None,
                            vec![place(*i)],
                            better(grid, cell, *amount),
                            f,
                            names,
                        )
                    });
                }
            }
        }
    }

    /// "the longest pause of Serial": the greatest of its own, not of all.
    fn is_of(&self, m: &Match, i: usize) -> bool {
        let at = m.at[Zone::Clause as usize][i];
        let end = self.say.own.end;
        at != usize::MAX
            && at > end
            && at < end + 7
            && (end..at).any(|j| matches!(self.word(j), "of" | "with" | "for" | "in"))
            && !(end..at).any(|j| {
                matches!(
                    self.word(j),
                    "is" | "was" | "are" | "were" | "," | "all" | "the" | "these"
                )
            })
    }

    /// What is the greatest or the least in all columns (or rows) of a table.
    pub(super) fn in_every(&self, t: &Sheet<'_>, ask: Most, out: &mut Vec<Reading>) {
        let says = self.tokens[self.say.clause.clone()].iter().any(|t| {
            matches!(t.lower.as_str(), "every" | "all" | "both" | "each" | "any" | "everywhere")
        });
        if !says {
            return;
        }
        let grid = &self.book.grids[t.g];
        for side in [Side::Rows, Side::Columns] {
            let (m_own, _, own, shared) = t.along(side);
            let amounts = |s: usize| -> Option<Vec<Amount>> {
                own.iter().map(|i| grid.amount(at(side, *i, s))).collect()
            };
            let names = &grid.axis(side.other()).names;
            let all: Vec<(usize, Vec<Amount>)> = shared
                .iter()
                .filter(|s| !words::is_part(&names[**s].text))
                .filter_map(|s| Some((*s, amounts(*s)?)))
                .collect();
            if own.len() < 2 || !(2..=MAX_SHARED).contains(&all.len()) {
                continue;
            }
            for (k, &i) in own.iter().enumerate() {
                // Whether it is the first of all as asked for, and the last.
                let (mut first, mut last) = (true, true);
                for (s, values) in &all {
                    let own = values[k].value;
                    let top = values.iter().all(|v| v.value <= own);
                    let low = values.iter().all(|v| v.value >= own);
                    let less = matches!(ask, Most::Best | Most::Worst)
                        && better(grid, at(side, i, *s), values[k]) == Better::Less;
                    let (one, other) = if less { (low, top) } else { (top, low) };
                    first &= one;
                    last &= other;
                }
                let mut f = Box::new(*t.common);
                f[model::extra(F::MostEvery)] = 1.0;
                if side == Side::Columns {
                    f[model::extra(F::MostColumns)] = 1.0;
                }
                View::slot(&mut f, 0, m_own, i, None, own);
                let names = [self.book.called(t.g, side, i), Called::NOTHING, Called::NOTHING];
                let others = [View::others(m_own, i, None, own), true, true];
                self.last_of(&mut f, &names, &[], others);
                let places =
                    all.iter().map(|(s, _)| Place::Cell { grid: t.g, at: at(side, i, *s) });
                out.push(Reading {
                    rank: Some((first, last)),
                    derived: Some(all.iter().map(|(_, v)| v[k].printed).collect()),
                    ..Reading::of(all[0].1[k], None, places.collect(), Better::More, f, names)
                });
            }
        }
    }
}
