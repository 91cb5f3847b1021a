//! Readings of so much for each of something: one metric over another, of the same row or column.

use super::book::{Place, Ratio};
use super::called::Called;
use super::derived::Sheet;
use super::model::{self, COUNT, F};
use super::reading::{Reading, View, better, plain};
use super::say::What;
use crate::evidence::amount::{Amount, Dimension, PLAIN, measure};
use crate::evidence::bind::{Side, at};
use crate::evidence::grid::Better;

/// "A gigabyte costs 47 cents", "one TB", "a core does 400".
fn is_shared(lower: &str) -> bool {
    matches!(
        lower,
        "gigabyte"
            | "gb"
            | "terabyte"
            | "tb"
            | "core"
            | "thread"
            | "chip"
            | "processor"
            | "socket"
            | "watt"
            | "disk"
            | "drive"
            | "node"
            | "cpu"
            | "dollar"
            | "euro"
            | "instance"
            | "machine"
            | "server"
    )
}

/// Tables of more cells are not looked at.
const MAX_CELLS: usize = 120;

/// One value over another, with where each stands.
type Quotient = (Amount, [(Place, f64); 2]);

impl View<'_> {
    /// Whether the words speak of so much for each of something, near the claim or at the beginning of its sentence.
    fn says_per(&self) -> bool {
        let near =
            self.say.from.saturating_sub(4)..(self.say.clause.end + 1).min(self.tokens.len());
        let opens = matches!(self.word(0), "per" | "each") || self.word(1) == "per";
        opens
            || near.into_iter().any(|i| {
                matches!(
                    self.word(i),
                    "per" | "each" | "every" | "apiece" | "out" | "efficiency" | "efficient"
                ) || self.word(i).contains('/') && self.word(i).len() > 2
                    || self.word(i) == "a" && i > self.say.own.start && i < self.say.own.end + 3
                    || matches!(self.word(i), "a" | "one" | "an")
                        && i < self.say.own.start
                        && i + 9 > self.say.own.start
                        && self.tokens.get(i + 1).is_some_and(|t| is_shared(&t.lower))
                    || self.tokens[i].is_mark('/')
            })
    }

    /// Whether its sentence speaks of so much per something that is no time.
    fn sentence_says_per(&self) -> bool {
        (0..self.tokens.len()).any(|i| {
            self.word(i) == "per"
                && !measure(self.word(i + 1)).is_some_and(|m| m.dimension == Dimension::Time)
        })
    }

    pub(super) fn quotients(&self, t: &Sheet<'_>, out: &mut Vec<Reading>) {
        let value = self.say.stated().is_some() && self.say.what != What::Percent;
        let pair = self.say.what.is_pair() && self.say.what != What::Orders;
        let last = self.last.ratio;
        let per = self.says_per() || self.sentence_says_per();
        if !(value || pair) || !per && last.is_none() {
            return;
        }
        let few = t.some_rows.len() * t.some_columns.len() <= MAX_CELLS;
        let parts = self.book.parts(t.g);
        for side in [Side::Rows, Side::Columns] {
            if side == Side::Columns && parts.is_some() {
                continue;
            }
            let (_, m_shared, own, shared) = t.along(side);
            for &c in shared {
                for &d in shared.iter().filter(|d| **d != c) {
                    let again = last == Some(self.ratio(t.g, side, (c, d)));
                    let of_one = parts.is_some_and(|p| p.get(c) == p.get(d));
                    if !(per || again) || of_one {
                        continue;
                    }
                    let mut f = Box::new(*t.common);
                    View::slot(&mut f, 2, m_shared, c, Some(d), shared);
                    if again {
                        f[model::extra(F::RatioAgain)] = 1.0;
                    }
                    if side == Side::Columns {
                        f[model::extra(F::RatioRows)] = 1.0;
                    }
                    self.per(&mut f, t, side, d);
                    if value && (few || again) {
                        self.quotients_of(t, side, (c, d), &f, out);
                    }
                    if pair && (own.len() <= 8 && shared.len() <= 7 || again) {
                        self.quotient_pairs(t, side, (c, d), &f, out);
                    }
                }
            }
        }
    }

    fn ratio(&self, g: usize, side: Side, (c, d): (usize, usize)) -> Ratio {
        let called = |i: usize| self.book.called(g, side.other(), i);
        Ratio { over: called(c), per: called(d) }
    }

    fn quotient(
        &self,
        t: &Sheet<'_>,
        side: Side,
        own: usize,
        (c, d): (usize, usize),
    ) -> Option<Quotient> {
        let grid = &self.book.grids[t.g];
        let (x, y) = (at(side, own, c), at(side, own, d));
        let (a, b) = (grid.amount(x)?, grid.amount(y)?);
        if b.printed == 0.0 || a.dimension() == b.dimension() && !plain(a) {
            return None;
        }
        let value = a.printed / b.printed;
        let relative = a.step / a.value.abs().max(1e-12) + b.step / b.value.abs().max(1e-12);
        let amount = Amount { value, step: value * relative * 0.5, measure: PLAIN, printed: value };
        let place = |at| Place::Cell { grid: t.g, at };
        value.is_finite().then_some((amount, [(place(x), a.printed), (place(y), b.printed)]))
    }

    fn quotients_of(
        &self,
        t: &Sheet<'_>,
        side: Side,
        (c, d): (usize, usize),
        common: &[f64; COUNT],
        out: &mut Vec<Reading>,
    ) {
        let (m_own, m_shared, own, shared) = t.along(side);
        for &r in own {
            let Some((amount, inputs)) = self.quotient(t, side, r, (c, d)) else { continue };
            let mut f = Box::new(*common);
            View::slot(&mut f, 0, m_own, r, None, own);
            View::slot(&mut f, 1, m_shared, d, Some(c), shared);
            f[model::extra(F::Quotient)] = 1.0;
            let called = |side: Side, i: usize| self.book.called(t.g, side, i);
            let names = [called(side, r), Called::NOTHING, called(side.other(), c)];
            let made = self.quotient_reading(t, side, (c, d), (amount, None), &inputs, f, names);
            out.push(Reading { sign: Some('/'), ..made });
        }
    }

    /// A reading of one quotient or of two, with the values that they are made of.
    #[allow(clippy::too_many_arguments)]
    fn quotient_reading(
        &self,
        t: &Sheet<'_>,
        side: Side,
        (c, d): (usize, usize),
        (a, b): (Amount, Option<Amount>),
        inputs: &[(Place, f64)],
        f: Box<[f64; COUNT]>,
        names: [Called; 3],
    ) -> Reading {
        let places = inputs.iter().map(|(p, _)| *p).collect();
        Reading {
            derived: Some(inputs.iter().map(|(_, v)| *v).collect()),
            ratio: Some(self.ratio(t.g, side, (c, d))),
            ..Reading::of(a, b, places, Better::Unknown, f, names)
        }
    }

    /// Whether what stands behind "per" is of a metric.
    fn per(&self, f: &mut [f64; COUNT], t: &Sheet<'_>, side: Side, d: usize) {
        let grid = &self.book.grids[t.g];
        let axis = grid.axis(side.other());
        let range =
            self.say.from.saturating_sub(4)..(self.say.clause.end + 1).min(self.tokens.len());
        for i in (0..2).chain(range) {
            if !matches!(self.word(i), "per" | "each" | "every" | "a" | "of" | "/")
                && !self.tokens.get(i).is_some_and(|t| t.is_mark('/'))
            {
                continue;
            }
            let mut noun = crate::evidence::name::words(self.word(i + 1));
            noun.extend(crate::evidence::name::words(self.word(i + 2)));
            let name = &axis.names[d].words;
            let power = match side {
                Side::Rows => grid.dimension(d) == Some(Dimension::Power),
                Side::Columns => measure(self.word(i + 1)).is_some() && name.contains(&"w".into()),
            };
            let watt = noun.iter().any(|w| w == "watt") && power;
            let money = noun.iter().any(|w| w == "dollar" || w == "euro")
                && ["$", "usd", "price", "cost"]
                    .iter()
                    .any(|w| axis.names[d].text.to_lowercase().contains(w));
            if watt || money || noun.iter().any(|w| w.len() > 1 && name.contains(w)) {
                f[model::extra(F::PerNoun)] = 1.0;
                return;
            }
        }
    }

    fn quotient_pairs(
        &self,
        t: &Sheet<'_>,
        side: Side,
        (c, d): (usize, usize),
        common: &[f64; COUNT],
        out: &mut Vec<Reading>,
    ) {
        let grid = &self.book.grids[t.g];
        let (m_own, _, own, _) = t.along(side);
        for &x in own {
            for &y in own.iter().filter(|y| **y != x) {
                if !m_own.there(x) && !m_own.there(y) {
                    continue;
                }
                let (Some((a, p)), Some((b, q))) =
                    (self.quotient(t, side, x, (c, d)), self.quotient(t, side, y, (c, d)))
                else {
                    continue;
                };
                let mut f = Box::new(*common);
                View::slot(&mut f, 0, m_own, x, Some(y), own);
                View::slot(&mut f, 1, m_own, y, Some(x), own);
                f[model::extra(F::QuotientPair)] = 1.0;
                View::apart(&mut f, a, b);
                let called = |side: Side, i: usize| self.book.called(t.g, side, i);
                let names = [called(side, x), called(side, y), called(side.other(), c)];
                let others = [
                    View::others(m_own, x, Some(y), own),
                    View::others(m_own, y, Some(x), own),
                    true,
                ];
                self.last_of(&mut f, &names, &[], others);
                let cell = at(side, x, c);
                let way = better(grid, cell, grid.amount(cell).unwrap_or(a));
                let inputs: Vec<(Place, f64)> = p.into_iter().chain(q).collect();
                let made = self.quotient_reading(t, side, (c, d), (a, Some(b)), &inputs, f, names);
                out.push(Reading { better: way, ..made });
            }
        }
    }
}
