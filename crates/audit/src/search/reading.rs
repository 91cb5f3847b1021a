//! A reading of a claim, and the features that readings of all kinds have.

use std::rc::Rc;

use super::among::Among;
use super::book::{Book, Last, Place, Ratio};
use super::called::Called;
use super::model::{self, COUNT, F};
use super::phrase::Phrased;
use super::say::{Say, What};
use super::scene::Scene;
use super::words::{Match, Zone, Zones};
use crate::evidence::amount::{Amount, Dimension};
use crate::evidence::grid::{At, Better, Grid};
use crate::evidence::metric::Metric;
use crate::judge::reading::Bound;
use crate::read::document::BlockKind;
use crate::read::token::Token;

/// What a claim may be about.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub a: Amount,
    pub b: Option<Amount>,
    pub places: Vec<Place>,
    pub better: Better,
    /// For ranks: whether it is the greatest and the least of its axis.
    pub rank: Option<(bool, bool)>,
    /// For ranks: the cells that it is ranked among.
    pub among: Option<Rc<Among>>,
    /// The same two values as the claim before, which gave their difference.
    pub again: bool,
    /// The values at its places, as printed, if it is computed from these.
    pub derived: Option<Vec<f64>>,
    /// What its values are put together with.
    pub sign: Option<char>,
    /// The metrics of which it is so much for each.
    pub(super) ratio: Option<Ratio>,
    pub features: Box<[f64; COUNT]>,
    /// Names, to be told what "it" is.
    pub names: [Called; 3],
    /// How the sentence puts it.
    pub phrased: Phrased,
    /// The sum of its features' weights, and without a look at how far its value is from the claimed one.
    pub score: (f64, f64),
    /// How likely it is, and how likely without a look at how far its value is from the claimed one.
    pub prior: f64,
    pub blind: f64,
    /// How likely the readings of the same values are together.
    pub pooled: f64,
}

impl Reading {
    /// Of one amount or of two, as they stand.
    pub(super) fn of(
        a: Amount,
        b: Option<Amount>,
        places: Vec<Place>,
        better: Better,
        features: Box<[f64; COUNT]>,
        names: [Called; 3],
    ) -> Reading {
        Reading {
            a,
            b,
            places,
            better,
            rank: None,
            among: None,
            again: false,
            derived: None,
            sign: None,
            ratio: None,
            features,
            names,
            phrased: Phrased::default(),
            score: (0.0, 0.0),
            prior: 0.0,
            blind: 0.0,
            pooled: 0.0,
        }
    }
}

/// What readings of one thing said are made from.
pub(super) struct View<'a> {
    pub(super) book: &'a Book<'a>,
    pub(super) scene: &'a Scene,
    pub(super) sentence: usize,
    pub(super) say: &'a Say,
    pub(super) tokens: &'a [Token],
    pub(super) zones: Zones,
    pub(super) metric: Metric,
    /// That of the sentence before, where this one has none.
    pub(super) heard: Metric,
    pub(super) printed: Vec<Amount>,
    pub(super) last: &'a Last,
    /// Whether the words speak of money.
    pub(super) money: bool,
    /// Whether the clause names something of a table.
    pub(super) named: std::cell::Cell<bool>,
}

pub(super) fn same(a: Amount, b: Amount) -> bool {
    a.dimension().fits(b.dimension())
        && (a.value - b.value).abs() <= 1e-9 * a.value.abs().max(1e-12)
}

/// Whether an amount is of no unit but a noun.
pub(super) fn plain(a: Amount) -> bool {
    matches!(a.dimension(), Dimension::Plain | Dimension::Count)
}

impl View<'_> {
    pub(super) fn word(&self, i: usize) -> &str {
        self.tokens.get(i).map_or("", |t| t.lower.as_str())
    }

    /// Whether the words may speak of amounts of a dimension at all.
    pub(super) fn fits(&self, amount: Amount) -> bool {
        let d = amount.dimension();
        match self.say.what {
            What::Value(v) | What::Two(v, _) => {
                v.dimension().fits(d) || v.dimension() == Dimension::Plain || d == Dimension::Plain
            }
            What::Delta(v) => {
                v.dimension().fits(d)
                    || d == Dimension::Plain
                    || v.dimension() == Dimension::Plain
                        && !matches!(d, Dimension::Percent | Dimension::Times)
            }
            _ => true,
        }
    }

    /// Features of a slot's name.
    pub(super) fn slot(
        f: &mut [f64; COUNT],
        slot: usize,
        m: &Match,
        i: usize,
        partner: Option<usize>,
        eligible: &[usize],
    ) {
        let order: &[Zone] = match slot {
            1 => &[Zone::Than, Zone::Clause, Zone::Sentence, Zone::Previous, Zone::Around],
            2 => &[Zone::Clause, Zone::Than, Zone::Sentence, Zone::Previous, Zone::Around],
            _ => &[Zone::Clause, Zone::Sentence, Zone::Previous, Zone::Around, Zone::Than],
        };
        if m.away[i] != usize::MAX
            && eligible.iter().all(|j| *j == i || Some(*j) == partner || m.away[*j] > m.away[i])
        {
            f[model::extra([F::SubjectNearest, F::BaselineNearest, F::FieldNearest][slot])] += 1.0;
        }
        for zone in order {
            let z = *zone as usize;
            let own = m.found[z][i];
            let best = eligible
                .iter()
                .filter(|j| **j != i && Some(**j) != partner)
                .map(|j| m.found[z][*j])
                .fold(0.0, f64::max);
            if own > 0.0 {
                let what = if own > best {
                    0
                } else if own == best {
                    1
                } else {
                    3
                };
                f[model::slot(slot, z, what)] += 1.0;
                f[model::slot(slot, z, 2)] += (own / m.total[i].max(1e-9)).min(1.0);
                if what != 3 {
                    return;
                }
            } else if best > 0.0 {
                f[model::slot(slot, z, 3)] += 1.0;
            }
        }
        f[model::nowhere(slot)] += 1.0;
    }

    /// Features that all readings of a table share.
    pub(super) fn table(&self, g: usize, rank: usize) -> [f64; COUNT] {
        let grid = &self.book.grids[g];
        let mut f = [0.0; COUNT];
        let start = self.book.context.document.sentences[self.sentence].span.start;
        f[model::extra(F::TableRank)] = rank as f64 / 3.0;
        if rank == 0 {
            f[model::extra(F::TableNear)] = 1.0;
        }
        if grid.start > start {
            f[model::extra(F::TableAfter)] = 1.0;
        }
        if self.last.grid == Some(g) {
            f[model::extra(F::TableSame)] = 1.0;
        }
        let between = |b: &crate::read::document::Block| {
            b.kind == BlockKind::Heading
                && b.span.start > grid.start.min(start)
                && b.span.start < grid.start.max(start)
        };
        if !self.book.context.document.blocks.iter().any(between) {
            f[model::extra(F::TableSection)] = 1.0;
        }
        let closer = |o: &Grid| {
            o.start != grid.start
                && (o.start > start) == (grid.start > start)
                && o.start.abs_diff(start) < grid.start.abs_diff(start)
        };
        if !self.book.grids.iter().any(closer) {
            f[model::extra(if grid.start > start { F::TableNext } else { F::TableLast })] = 1.0;
        }
        if grid.start.abs_diff(start) > 3000 {
            f[model::extra(F::TableFar)] = 1.0;
        }
        let [than, clause, sentence, _, around] = &self.zones.bags;
        let said = |w: &&String| {
            [than, clause, sentence, around].iter().any(|b| b.contains_key(w.as_str()))
        };
        let shared = self.book.titles[g].iter().filter(said).count();
        f[model::extra(F::TableWords)] = (shared as f64).min(3.0) / 3.0;
        f
    }

    pub(super) fn metric_of(
        &self,
        f: &mut [f64; COUNT],
        g: usize,
        (rows, columns): (&Match, &Match),
        at: At,
        amount: Amount,
    ) {
        let grid = &self.book.grids[g];
        let [of_rows, of_columns] = &self.book.labels[g];
        let dimension = amount.dimension();
        // "Avocet Z5440 4 Chips 32 Cores" is no metric.
        let mut kind = grid.columns.names[at.column].kind;
        if !of_rows.has_part[at.row] {
            kind |= grid.rows.names[at.row].kind;
        }
        let named = |m: &Match, i: usize| (0..3).any(|z| m.found[z][i] > 0.0);
        if self.metric != Metric::Any {
            let takes = self.metric.takes(dimension, grid.better[at.column], kind)
                && (named(columns, at.column) || !of_columns.part[at.column]);
            let speed = self.metric == Metric::Speed;
            f[model::extra(match (takes, speed) {
                (true, false) => F::MetricYes,
                (false, false) => F::MetricNo,
                (true, true) => F::SpeedYes,
                (false, true) => F::SpeedNo,
            })] = 1.0;
        }
        if self.heard != Metric::Any {
            let takes = self.heard.takes(dimension, grid.better[at.column], kind);
            f[model::extra(if takes { F::MetricBefore } else { F::MetricNotBefore })] = 1.0;
        }
        for (m, i, own) in [(columns, at.column, of_columns), (rows, at.row, of_rows)] {
            if own.statistic[i] {
                f[model::extra(if named(m, i) { F::Statistic } else { F::StatisticUnnamed })] = 1.0;
            }
        }
        if grid.summary[at.row] {
            f[model::extra(F::Summary)] = 1.0;
        }
        if grid.is_against(at.column) {
            f[model::extra(F::Against)] = 1.0;
        }
        if grid.better[at.column] == Better::Unknown {
            f[model::extra(F::BetterUnknown)] = 1.0;
        }
        match dimension {
            Dimension::Percent | Dimension::Times => f[model::extra(F::PercentCells)] = 1.0,
            Dimension::Plain | Dimension::Count => f[model::extra(F::PlainCells)] = 1.0,
            _ => {}
        }
        if of_columns.part[at.column] {
            f[model::extra(if named(columns, at.column) {
                F::Hardware
            } else {
                F::HardwareUnnamed
            })] = 1.0;
        }
    }

    /// How far apart two values are, and whether one is money where the words speak of none.
    pub(super) fn apart(f: &mut [f64; COUNT], a: Amount, b: Amount) {
        let away = (a.value / b.value).abs().log10().abs();
        f[model::extra(F::FarApart)] =
            if away.is_finite() { (away - 1.0).clamp(0.0, 3.0) } else { 2.0 };
        if a.value == 0.0 || b.value == 0.0 {
            f[model::extra(F::Zero)] = 1.0;
        }
    }

    pub(super) fn money_of(&self, f: &mut [f64; COUNT], g: usize, at: At) {
        let [rows, columns] = &self.book.labels[g];
        let column = columns.paid[at.column] || rows.paid[at.row];
        match (column, self.money) {
            (true, true) => f[model::extra(F::MoneyBoth)] = 1.0,
            (true, false) => f[model::extra(F::MoneyUnsaid)] = 1.0,
            (false, true) => f[model::extra(F::MoneyElsewhere)] = 1.0,
            _ => {}
        }
    }

    pub(super) fn printed_of(&self, f: &mut [f64; COUNT], a: Amount, b: Option<Amount>) {
        if matches!(self.say.what, What::Two(..)) {
            f[model::extra(F::Both)] = 1.0;
            return;
        }
        if self.printed.iter().any(|p| same(*p, a)) {
            f[model::extra(F::PrintedA)] = 1.0;
        }
        if let Some(b) = b
            && self.printed.iter().any(|p| same(*p, b))
        {
            f[model::extra(F::PrintedB)] = 1.0;
        }
        let near = self.say.clause.clone();
        let other = self.book.says[self.sentence].iter().any(|s| {
            let What::Value(v) = s.what else { return false };
            s.own.start.abs_diff(self.say.own.start) < 12
                && (near.contains(&s.own.start))
                && v.dimension() == a.dimension()
                && !same(v, a)
                && !b.is_some_and(|b| same(v, b))
        });
        if other && self.say.what.is_pair() {
            f[model::extra(F::PrintedOther)] = 1.0;
        }
    }

    /// Whether another name than this is spoken of in the clause.
    pub(super) fn others(m: &Match, i: usize, partner: Option<usize>, eligible: &[usize]) -> bool {
        let in_clause = |j: usize| m.found[0][j] > 0.0 || m.found[1][j] > 0.0;
        in_clause(i) || eligible.iter().any(|j| *j != i && Some(*j) != partner && in_clause(*j))
    }

    pub(super) fn says_it(&self) -> bool {
        self.tokens[..self.say.own.start].iter().rev().take(12).any(|t| {
            matches!(
                t.lower.as_str(),
                "it" | "its" | "they" | "their" | "this" | "that" | "which" | "one"
            )
        })
    }

    /// "That is", "or", "i.e.": the same two values again.
    pub(super) fn again(&self) -> bool {
        let from = self.say.clause.start;
        let first = self.word(from);
        let before = from.checked_sub(1).map_or("", |p| self.word(p));
        matches!(
            first,
            "that"
                | "that's"
                | "this"
                | "which"
                | "or"
                | "i.e"
                | "so"
                | "makes"
                | "meaning"
                | "is"
                | "a"
        ) || matches!(before, "or" | "(" | "which" | "i.e" | "and" | ";")
            || self.say.own.start <= from + 1
    }

    pub(super) fn last_of(
        &self,
        f: &mut [f64; COUNT],
        names: &[Called; 3],
        places: &[Place],
        others: [bool; 3],
    ) -> bool {
        let last = self.last;
        let same_name = |i: usize| !names[i].is_nothing() && names[i] == last.names[i];
        if same_name(0) {
            f[model::extra(if others[0] { F::LastAOther } else { F::LastA })] = 1.0;
            if self.says_it() && !others[0] {
                f[model::extra(F::LastAIt)] = 1.0;
            }
        }
        if same_name(1) {
            f[model::extra(if others[1] { F::LastBOther } else { F::LastB })] = 1.0;
        }
        if same_name(2) {
            f[model::extra(if others[2] { F::LastSharedOther } else { F::LastShared })] = 1.0;
        }
        if !names[1].is_nothing() && names[1] == last.names[0] && !others[1] {
            f[model::extra(F::ChainB)] = 1.0;
            let again = self.tokens[self.say.clause.start..self.say.own.end].iter().any(|t| {
                matches!(
                    t.lower.as_str(),
                    "another" | "further" | "again" | "additional" | "extra" | "once" | "more"
                )
            });
            if again {
                f[model::extra(F::ChainBAgain)] = 1.0;
            }
        }
        if !places.is_empty() && places == last.places.as_slice() {
            f[model::extra(F::LastPair)] = 1.0;
            if self.again() {
                f[model::extra(F::LastPairThat)] = 1.0;
            }
        } else if places.len() == 2
            && last.places.len() == 2
            && places[0] == last.places[1]
            && places[1] == last.places[0]
        {
            f[model::extra(F::LastSwapped)] = 1.0;
        }
        last.difference
            && !places.is_empty()
            && places.len() == last.places.len()
            && places.iter().all(|p| last.places.contains(p))
    }
}

/// Whether an amount is of a dimension that has a better way by itself.
fn better_of(dimension: Dimension) -> Option<Better> {
    match dimension {
        Dimension::Time | Dimension::Bytes | Dimension::Power => Some(Better::Less),
        Dimension::Rate | Dimension::ByteRate | Dimension::BitRate => Some(Better::More),
        _ => None,
    }
}

/// Which way an amount of a cell is better: by its own unit, else by the names of its column and row.
pub(super) fn better(grid: &Grid, at: At, amount: Amount) -> Better {
    if let Some(better) = better_of(amount.dimension()) {
        return better;
    }
    let column = grid.better[at.column];
    let own = grid.row_better[at.row];
    match (column, own) {
        (Better::Unknown, own) => own,
        // A column of times over a row of percentages says nothing of the row.
        (column, Better::Unknown) if grid.dimension(at.column) == Some(amount.dimension()) => {
            column
        }
        (_, own) if own != Better::Unknown => own,
        _ => Better::Unknown,
    }
}

/// How a number agrees with a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    Yes,
    /// Only as somebody would say it who is loose with words.
    Loose,
    No,
}

/// Whether a bound is stated as such.
pub(crate) fn is_bound(bound: Bound) -> bool {
    matches!(bound, Bound::AtLeast | Bound::AtMost)
}
