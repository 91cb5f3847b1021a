//! Ranks of changes: which of several gained the most, and which the least.

use super::book::Place;
use super::called::Called;
use super::derived::Sheet;
use super::model::{self, F};
use super::reading::{Reading, View};
use crate::evidence::amount::{Amount, PLAIN};
use crate::evidence::bind::{Side, at};
use crate::evidence::grid::Better;

impl View<'_> {
    /// "improved the least", "the largest gain of the three": how far two values of each are apart.
    pub(super) fn changes(&self, t: &Sheet<'_>, out: &mut Vec<Reading>) {
        if !self.speaks_of_change() {
            return;
        }
        let grid = &self.book.grids[t.g];
        for side in [Side::Rows, Side::Columns] {
            let (_, _, own, shared) = t.along(side);
            if shared.len() > 6 || own.len() < 2 {
                continue;
            }
            for (k, &from) in shared.iter().enumerate() {
                for &to in &shared[k + 1..] {
                    let both = |i: usize| {
                        let (a, b) =
                            (grid.amount(at(side, i, from))?, grid.amount(at(side, i, to))?);
                        let alike =
                            a.dimension() == b.dimension() && a.value > 0.0 && b.value > 0.0;
                        alike.then_some((i, a, b))
                    };
                    let all: Vec<(usize, Amount, Amount)> =
                        own.iter().filter_map(|i| both(*i)).collect();
                    if all.len() < 2 {
                        continue;
                    }
                    for by_ratio in [true, false] {
                        let away = |a: Amount, b: Amount| {
                            if by_ratio { (b.value / a.value).ln() } else { b.value - a.value }
                        };
                        for (i, a, b) in &all {
                            let own_way = away(*a, *b).signum();
                            let values: Vec<f64> =
                                all.iter().map(|(_, a, b)| own_way * away(*a, *b)).collect();
                            let change = own_way * away(*a, *b);
                            let how = if by_ratio { F::ChangeRatio } else { F::Change };
                            let a_change = Amount {
                                value: change,
                                printed: change,
                                step: 0.0,
                                measure: PLAIN,
                            };
                            let top = values.iter().all(|v| *v <= change);
                            let low = values.iter().all(|v| *v >= change);
                            let moved = self.moved(t, (side, *i), (from, to), (*a, *b), how);
                            out.push(Reading {
                                rank: Some((top, low)),
                                a: a_change,
                                better: Better::More,
                                ..moved
                            });
                        }
                    }
                }
            }
        }
    }

    /// What a row or column went from and to, with the features that such readings have.
    pub(super) fn moved(
        &self,
        t: &Sheet<'_>,
        (side, i): (Side, usize),
        (from, to): (usize, usize),
        (a, b): (Amount, Amount),
        how: F,
    ) -> Reading {
        let (m_own, m_shared, own, shared) = t.along(side);
        let mut f = Box::new(*t.common);
        if side == Side::Columns {
            f[model::extra(F::MostColumns)] = 1.0;
        }
        f[model::extra(how)] = 1.0;
        View::slot(&mut f, 0, m_own, i, None, own);
        View::slot(&mut f, 2, m_shared, to, Some(from), shared);
        let cells = [at(side, i, from), at(side, i, to)];
        self.metric_of(&mut f, t.g, (t.rows, t.columns), cells[1], b);
        let names = [self.book.called(t.g, side, i), Called::NOTHING, Called::NOTHING];
        let others = [View::others(m_own, i, None, own), true, true];
        self.last_of(&mut f, &names, &[], others);
        let places = cells.map(|at| Place::Cell { grid: t.g, at }).to_vec();
        Reading {
            derived: Some(vec![a.printed, b.printed]),
            ..Reading::of(b, None, places, Better::Unknown, f, names)
        }
    }

    /// Whether a superlative is of changes: "gains most", "the smallest improvement", "the biggest winner".
    fn speaks_of_change(&self) -> bool {
        let near =
            self.say.own.start.saturating_sub(6)..(self.say.own.end + 6).min(self.tokens.len());
        near.into_iter().any(|i| {
            let word = self.word(i);
            [
                "gain", "improv", "benefit", "profit", "degrad", "regress", "chang", "reduc",
                "drop", "winner", "loser", "suffer", "growth", "increas", "decreas", "sav",
                "shrink", "shrank", "speedup", "speed-up", "jump", "progress",
            ]
            .iter()
            .any(|w| word.starts_with(w))
                || matches!(
                    word,
                    "grew" | "rose" | "fell" | "lost" | "loses" | "lose" | "rise" | "moved"
                )
        })
    }
}
