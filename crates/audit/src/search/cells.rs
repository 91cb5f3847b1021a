//! Readings of the cells of a table: one alone, one among its rivals, two of a row or column.

use std::collections::BTreeSet;

use super::book::Place;
use super::called::Called;
use super::derived::Sheet;
use super::model::{self, COUNT, F};
use super::order::Later;
use super::say::{Ranked, What};
use super::words::{self, Match, Zone};
use crate::detect::pointing::Way;
use crate::evidence::amount::{Amount, Dimension};
use crate::evidence::bind::{Side, at};
use crate::evidence::grid::At;
use crate::evidence::name::Axis;

use super::reading::{Reading, View, better, same};

/// Names of an axis beyond these must be spoken of.
const MAX_NAMES: usize = 14;
/// Readings beyond these are left out.
pub(super) const MAX_READINGS: usize = 4000;

impl View<'_> {
    pub(super) fn of_grid(&self, g: usize, rank: usize, out: &mut Vec<Reading>) {
        let grid = &self.book.grids[g];
        let [rows, columns] = [0, 1].map(|axis| {
            let labels = &self.book.labels[g][axis];
            let before = self.scene.found(g, axis, labels);
            Match::new(labels, &self.zones, &before, self.say.own.start)
        });
        for (m, axis) in [(&rows, &grid.rows), (&columns, &grid.columns)] {
            let whole =
                |i: usize| (0..2).any(|z| m.found[z][i] > 0.6 * m.total[i]) && m.total[i] > 0.9;
            if (0..axis.names.len()).any(whole) {
                self.named.set(true);
            }
        }
        let valued: Vec<usize> = grid.valued().collect();
        let printed = |amount: Amount| self.printed.iter().any(|p| same(*p, amount));
        let mut printed_rows = BTreeSet::new();
        for r in 0..grid.rows.names.len() {
            if valued.iter().any(|c| grid.amount(At { row: r, column: *c }).is_some_and(printed)) {
                printed_rows.insert(r);
            }
        }
        let all_rows = 0..grid.rows.names.len();
        let few = all_rows.len() <= MAX_NAMES;
        let near_best = rows.near_best();
        let some_rows: Vec<usize> = all_rows
            .clone()
            .filter(|r| few || near_best(*r) || printed_rows.contains(r))
            .take(40)
            .collect();
        let some_columns: Vec<usize> = valued
            .iter()
            .copied()
            .filter(|c| valued.len() <= MAX_NAMES || columns.there(*c))
            .take(30)
            .collect();
        let common = self.table(g, rank);
        let table = Sheet {
            g,
            rows: &rows,
            columns: &columns,
            common: &common,
            some_rows: &some_rows,
            some_columns: &some_columns,
        };
        if self.book.parts(g).is_some() {
            self.quotients(&table, out);
            if let (What::Most(most), Ranked::First) = (self.say.what, self.say.ranked) {
                self.in_every(&table, most, out);
            }
            return;
        }
        self.derived(&table, out);
        self.with_prose(&table, out);
        if self.say.stated().is_some() {
            for &r in &some_rows {
                for &c in &some_columns {
                    self.single(&table, (r, c), out);
                }
            }
        }
        match self.say.what {
            What::Value(_) if self.may_differ() => {
                self.pairs(&table, Side::Rows, out);
                self.pairs(&table, Side::Columns, out);
            }
            What::Value(_) => {}
            What::Most(most) => match self.say.ranked {
                Ranked::Alone(way) => self.alone(&table, way, out),
                Ranked::Nth(place) => self.most(&table, most, place, out),
                Ranked::First => {
                    self.most(&table, most, 0, out);
                    self.changes(&table, out);
                    self.in_every(&table, most, out);
                }
            },
            _ => {
                self.pairs(&table, Side::Rows, out);
                self.pairs(&table, Side::Columns, out);
            }
        }
    }

    fn single(&self, t: &Sheet<'_>, (r, c): (usize, usize), out: &mut Vec<Reading>) {
        let (grid, rows, columns) = (&self.book.grids[t.g], t.rows, t.columns);
        let cell = At { row: r, column: c };
        let Some(v) = self.say.stated() else { return };
        let percent = self.say.what == What::Percent;
        let Some(amount) = grid
            .amount(cell)
            .filter(|a| if percent { a.dimension() == Dimension::Percent } else { self.fits(*a) })
        else {
            return;
        };
        let mut f = Box::new(*t.common);
        View::slot(&mut f, 0, rows, r, None, t.some_rows);
        View::slot(&mut f, 2, columns, c, None, t.some_columns);
        self.metric_of(&mut f, t.g, (rows, columns), cell, amount);
        self.money_of(&mut f, t.g, cell);
        let unit = v.dimension() == amount.dimension() && v.dimension() != Dimension::Plain;
        f[model::extra(if unit { F::ValueUnit } else { F::ValuePlain })] = 1.0;
        if percent {
            f[model::extra(F::BarePercent)] = 1.0;
        }
        let called = |side: Side, i: usize| self.book.called(t.g, side, i);
        let names = [called(Side::Rows, r), Called::NOTHING, called(Side::Columns, c)];
        let places = vec![Place::Cell { grid: t.g, at: cell }];
        let others = [
            View::others(rows, r, None, t.some_rows),
            true,
            View::others(columns, c, None, t.some_columns),
        ];
        self.last_of(&mut f, &names, &[], others);
        // "162 ns", "8,610 IOPS": the word behind the number is of the column's name.
        let after = self.word(self.say.own.end);
        let noun = crate::evidence::name::words(after);
        let tells = |axis: &Axis, i: usize, w: &String| {
            axis.names[i].words.contains(w) && words::weight(axis, w) > 0.0
        };
        if noun.iter().any(|w| tells(&grid.columns, c, w) || tells(&grid.rows, r, w)) {
            f[model::extra(F::ValueNoun)] = 1.0;
        }
        out.push(Reading::of(amount, None, places, better(grid, cell, amount), f, names));
    }

    /// Whether a value may be how far two are apart: "costs 93 W", "pays 0.73 µs", "the 2.7 kW between them".
    fn may_differ(&self) -> bool {
        let near =
            self.say.own.start.saturating_sub(5)..(self.say.own.end + 3).min(self.tokens.len());
        near.into_iter().any(|i| {
            matches!(
                self.word(i),
                "cost"
                    | "costs"
                    | "pays"
                    | "paid"
                    | "pay"
                    | "gave"
                    | "gives"
                    | "gained"
                    | "lost"
                    | "won"
                    | "bought"
                    | "buys"
                    | "worth"
                    | "adds"
                    | "between"
                    | "saves"
                    | "makes"
                    | "away"
                    | "back"
                    | "above"
                    | "below"
                    | "under"
                    | "beyond"
            )
        })
    }

    /// "makes up 30% of the page", "accounts for half of it": a part of a whole.
    fn says_share(&self) -> bool {
        matches!(self.say.way, None | Some(Way::Of))
            && matches!(self.say.what, What::Percent | What::Times)
            && (self.say.clause.clone()).any(|i| {
                let word = self.word(i);
                let up = self.word(i + 1) == "up";
                matches!(word, "share" | "accounts" | "account" | "part" | "fraction" | "whole")
                    || matches!(word, "made" | "makes" | "make") && up
                    || word == "of" && i >= self.say.own.end
            })
    }

    fn pairs(&self, t: &Sheet<'_>, side: Side, out: &mut Vec<Reading>) {
        let (g, grid, common) = (t.g, &self.book.grids[t.g], t.common);
        let (m_own, m_shared, own, shared) = t.along(side);
        let axis = grid.axis(side);
        let labels = self.book.labels_of(g, side);
        let two = own.len() == 2;
        // Columns of several units hold metrics; what they are compared in are rows.
        let uneven =
            side == Side::Columns && own.iter().any(|c| labels.unit[*c] != labels.unit[own[0]]);
        let in_clause = |i: usize| m_own.at[Zone::Clause as usize][i];
        let opener = |i: usize| -> bool {
            let at = in_clause(i);
            at != usize::MAX
                && (at.saturating_sub(3)..at)
                    .any(|j| matches!(self.word(j), "from" | "between" | "instead"))
        };
        let shares = self.says_share() && own.iter().any(|i| is_total(&axis.names[*i].words));
        let ages = &labels.age;
        for &x in own {
            for &y in own {
                if x == y {
                    continue;
                }
                // What neither is spoken of nor follows from the table is not meant.
                let spoken = m_own.there(x) || m_own.there(y);
                if !spoken && own.len() > 6 {
                    continue;
                }
                let mut pair = [0.0; COUNT];
                View::slot(&mut pair, 0, m_own, x, Some(y), own);
                View::slot(&mut pair, 1, m_own, y, Some(x), own);
                if side == Side::Columns {
                    pair[model::extra(F::Columns)] = 1.0;
                }
                if side == Side::Columns {
                    if labels.unit[x] != labels.unit[y] {
                        pair[model::extra(F::ColumnsUnits)] = 1.0;
                    }
                    if uneven {
                        pair[model::extra(F::ColumnsUneven)] = 1.0;
                    }
                }
                if two {
                    pair[model::extra(F::Two)] = 1.0;
                }
                let spoken_of = |i: usize| (0..3).any(|z| m_own.found[z][i] > 0.0);
                let (named_x, named_y) = (spoken_of(x), spoken_of(y));
                if named_x && named_y && x > y {
                    pair[model::extra(F::LaterNamed)] = 1.0;
                }
                if !named_y {
                    if x == y + 1 {
                        pair[model::extra(F::Adjacent)] = 1.0;
                    }
                    if y == own[0] {
                        pair[model::extra(F::FirstIsB)] = 1.0;
                    }
                    if y == own[own.len() - 1] {
                        pair[model::extra(F::LastIsB)] = 1.0;
                    }
                }
                if !named_x {
                    if x == own[0] {
                        pair[model::extra(F::FirstIsA)] = 1.0;
                    }
                    if x == own[own.len() - 1] {
                        pair[model::extra(F::LastIsA)] = 1.0;
                    }
                }
                if ages[x] > ages[y] {
                    pair[model::extra(if named_x && named_y {
                        F::OldNewNamed
                    } else {
                        F::OldNew
                    })] = 1.0;
                }
                if let Some((how, first)) = labels.order.of(x, y) {
                    let both = named_x && named_y;
                    let which = match (how, both) {
                        (Later::Newer, false) => F::Newer,
                        (Later::Newer, true) => F::NewerNamed,
                        (Later::More, false) => F::MoreOf,
                        (Later::More, true) => F::MoreOfNamed,
                    };
                    pair[model::extra(which)] = if first { 1.0 } else { -1.0 };
                }
                if ages[x] < ages[y] && !(named_x && named_y) {
                    pair[model::extra(F::NewOld)] = 1.0;
                }
                if shares {
                    let total = is_total(&axis.names[y].words);
                    pair[model::extra(if total { F::ShareTotal } else { F::ShareOther })] = 1.0;
                }
                let (px, py) = (in_clause(x), in_clause(y));
                if px != usize::MAX && py != usize::MAX && px != py {
                    pair[model::extra(if px < py { F::OrderAB } else { F::OrderBA })] = 1.0;
                }
                if opener(y) {
                    pair[model::extra(F::FromBToA)] = 1.0;
                }
                if opener(x) {
                    pair[model::extra(F::FromAToB)] = 1.0;
                }
                let usable: Vec<usize> = shared
                    .iter()
                    .copied()
                    .filter(|s| {
                        let (Some(a), Some(b)) =
                            (grid.amount(at(side, x, *s)), grid.amount(at(side, y, *s)))
                        else {
                            return false;
                        };
                        a.dimension().fits(b.dimension()) && self.fits(a)
                    })
                    .collect();
                self.each_of(t, side, (x, y), &pair, out);
                for &s in &usable {
                    let (ca, cb) = (at(side, x, s), at(side, y, s));
                    let (Some(a), Some(b)) = (grid.amount(ca), grid.amount(cb)) else { continue };
                    if same(a, b) && !matches!(self.say.what, What::Beats | What::Same) {
                        continue;
                    }
                    let mut f = Box::new(*common);
                    for (i, v) in pair.iter().enumerate() {
                        f[i] += v;
                    }
                    View::slot(&mut f, 2, m_shared, s, None, &usable);
                    if usable.len() == 1 {
                        f[model::extra(F::SharedOnly)] = 1.0;
                    }
                    let named_s = (0..3).any(|z| m_shared.found[z][s] > 0.0);
                    if !named_s {
                        if s == usable[0] {
                            f[model::extra(F::FieldFirst)] = 1.0;
                        }
                        if s == usable[usable.len() - 1] {
                            f[model::extra(F::FieldLast)] = 1.0;
                        }
                    }
                    self.metric_of(
                        &mut f,
                        g,
                        if side == Side::Rows { (m_own, m_shared) } else { (m_shared, m_own) },
                        ca,
                        a,
                    );
                    // Chips and GHz say what is compared, unless they are spoken of.
                    if f[model::extra(F::HardwareUnnamed)] > 0.0 {
                        continue;
                    }
                    self.printed_of(&mut f, a, Some(b));
                    if matches!(self.say.what, What::Value(_)) {
                        f[model::extra(F::ValueApart)] = 1.0;
                    }
                    View::apart(&mut f, a, b);
                    self.money_of(&mut f, g, ca);
                    let called = |side: Side, i: usize| self.book.called(g, side, i);
                    let names = [called(side, x), called(side, y), called(side.other(), s)];
                    let places =
                        vec![Place::Cell { grid: g, at: ca }, Place::Cell { grid: g, at: cb }];
                    let others = [
                        View::others(m_own, x, Some(y), own),
                        View::others(m_own, y, Some(x), own),
                        View::others(m_shared, s, None, &usable),
                    ];
                    let again = self.last_of(&mut f, &names, &places, others);
                    out.push(Reading {
                        again,
                        ..Reading::of(a, Some(b), places, better(grid, ca, a), f, names)
                    });
                    if out.len() > MAX_READINGS {
                        return;
                    }
                }
            }
        }
    }
}

/// Whether a name is of all the others together.
fn is_total(words: &[String]) -> bool {
    words.iter().any(|w| matches!(w.as_str(), "total" | "sum" | "all" | "overall" | "whole"))
}
