//! Readings of two amounts that the prose states, and of what they give.

use super::called::Called;
use std::rc::Rc;

use super::model::{self, COUNT, F};
use super::words::{Bag, Zone};
use crate::evidence::amount::{Amount, Dimension, PLAIN};
use crate::evidence::grid::Better;
use crate::evidence::metric::Metric;
use crate::evidence::name::Kind;

use super::facts::Fact;
use super::reading::{Reading, View, plain, same};
use super::say::What;

impl View<'_> {
    /// The last amounts in the prose at and before the claim.
    fn near(&self, most: usize) -> Vec<&Fact> {
        let block = self.book.block(self.sentence);
        let facts = &self.book.facts;
        let end = facts.partition_point(|f| f.sentence <= self.sentence);
        let mut found: Vec<&Fact> = facts[..end]
            .iter()
            .rev()
            .take_while(|f| self.sentence - f.sentence <= 4)
            .filter(|f| self.book.block(f.sentence) == block || self.sentence - f.sentence <= 2)
            .filter(|f| f.sentence != self.sentence || f.at != self.say.own.start)
            .take(most)
            .collect();
        found.reverse();
        found
    }

    /// A value that two amounts in the prose before it give: their difference, sum, product, or quotient.
    pub(super) fn computed(&self, claimed: Amount, out: &mut Vec<Reading>) {
        let facts = self.near(6);
        for (i, x) in facts.iter().enumerate() {
            for (j, y) in facts.iter().enumerate().filter(|(j, _)| *j != i) {
                let (a, b) = units(x, y);
                let alike = a.dimension() == b.dimension();
                let relative = a.step / a.value.abs() + b.step / b.value.abs();
                let of = |value: f64| Amount {
                    value,
                    step: 0.5 * (value * relative).abs(),
                    measure: PLAIN,
                    printed: value,
                };
                let both = |value: f64| Amount {
                    value,
                    step: a.step.max(b.step),
                    measure: a.measure,
                    printed: value / a.measure.scale,
                };
                let made = [
                    (F::Minus, '-', alike && a.value > b.value, both(a.value - b.value)),
                    (F::Plus, '+', alike && i < j, both(a.value + b.value)),
                    (F::Over, '/', !alike || plain(a), of(a.printed / b.printed)),
                    (F::TimesOf, '*', (!alike || plain(a)) && i < j, of(a.printed * b.printed)),
                ];
                for (feature, sign, makes, amount) in made {
                    let near = amount.value / claimed.value;
                    let printed = amount.printed / claimed.printed;
                    let is_near = |q: f64| (0.33..3.0).contains(&q);
                    if !makes || !self.fits(amount) || !is_near(near) && !is_near(printed) {
                        continue;
                    }
                    let mut f = self.beside(x, y);
                    f[model::extra(feature)] = 1.0;
                    let places = vec![x.place(), y.place()];
                    let names = Default::default();
                    out.push(Reading {
                        derived: Some(vec![a.printed, b.printed]),
                        sign: Some(sign),
                        ..Reading::of(amount, None, places, Better::Unknown, f, names)
                    });
                }
            }
        }
    }

    /// Pairs of amounts in the prose at and before the claim.
    pub(super) fn of_prose(&self, out: &mut Vec<Reading>) {
        let facts = self.near(10);
        for (i, x) in facts.iter().enumerate() {
            for (j, y) in facts.iter().enumerate() {
                let between = facts[i.min(j) + 1..i.max(j).max(i.min(j) + 1)]
                    .iter()
                    .any(|z| z.amount.dimension() == x.amount.dimension());
                if i != j {
                    self.of_two(x, y, !between, false, out);
                }
            }
        }
        let is_near = |f: &Fact| facts.iter().any(|n| std::ptr::eq(*n, f));
        let spoken = |w: &&Rc<str>| self.zones.bags[..3].iter().any(|b| b.contains_key(*w));
        for twin in &self.book.twins {
            let (x, y) = (&self.book.facts[twin.facts.0], &self.book.facts[twin.facts.1]);
            let behind = x.sentence.max(y.sentence) > self.sentence;
            if behind || is_near(x) && is_near(y) {
                continue;
            }
            if twin.words.iter().filter(spoken).take(twin.least).count() < twin.least {
                continue;
            }
            self.of_two(x, y, false, true, out);
            self.of_two(y, x, false, true, out);
        }
    }

    /// Two amounts, the first compared with the second: whether none of their kind stands between them, and whether they
    /// are of two clauses that say the same of two things.
    fn of_two(&self, x: &Fact, y: &Fact, next: bool, twin: bool, out: &mut Vec<Reading>) {
        let (a, b) = units(x, y);
        if !a.dimension().fits(b.dimension())
            || !self.fits(a)
            || same(a, b) && self.say.what != What::Same
        {
            return;
        }
        let mut f = self.beside(x, y);
        if twin {
            f[model::extra(F::ProseTwin)] = 1.0;
        }
        if next {
            f[model::extra(F::ProseNext)] = 1.0;
        }
        View::apart(&mut f, a, b);
        let better = match a.dimension() {
            Dimension::Time | Dimension::Bytes | Dimension::Power => Better::Less,
            Dimension::Rate | Dimension::ByteRate | Dimension::BitRate => Better::More,
            _ => Better::Unknown,
        };
        if self.metric != Metric::Any {
            let takes = self.metric.takes(a.dimension(), better, Kind::default());
            f[model::extra(if takes { F::MetricYes } else { F::MetricNo })] = 1.0;
        }
        let places = vec![x.place(), y.place()];
        let names = [Called::NOTHING; 3];
        let again = self.last_of(&mut f, &names, &places, [true; 3]);
        out.push(Reading { again, ..Reading::of(a, Some(b), places, better, f, names) });
    }

    /// What is known of two amounts in the prose by where they stand.
    fn beside(&self, x: &Fact, y: &Fact) -> Box<[f64; COUNT]> {
        let own = self.say.own.start;
        let mut f = Box::new([0.0; COUNT]);
        f[model::extra(F::Prose)] = 1.0;
        f[model::extra(F::ProseBare)] = f64::from(u8::from(x.bare)) + f64::from(u8::from(y.bare));
        let (sx, sy) = (self.sentence - x.sentence, self.sentence - y.sentence);
        if sx == 0 && sy == 0 {
            f[model::extra(F::ProseSame)] = 1.0;
        }
        if self.named.get() {
            f[model::extra(F::ProseThough)] = 1.0;
        }
        if (sx > 0 || x.at < own) && (sy > 0 || y.at < own) {
            f[model::extra(F::ProseBefore)] = 1.0;
        }
        if x.sentence == y.sentence {
            f[model::extra(F::ProseTogether)] = 1.0;
        } else {
            f[model::extra(F::ProseApart)] = 1.0;
        }
        f[model::extra(F::ProseFar)] = (sx.max(sy) as f64 / 2.0).min(4.0);
        if (x.sentence, x.at) > (y.sentence, y.at) {
            f[model::extra(F::ProseOrder)] = 1.0;
        }
        let back = |fact: &Fact, n: usize| -> &str {
            let tokens = self.book.tokens(fact.sentence);
            fact.at.checked_sub(n).map_or("", |p| &tokens[p].lower)
        };
        if back(y, 1) == "from" && back(x, 1) == "to" {
            f[model::extra(F::ProseFromTo)] = 1.0;
        }
        if back(y, 1) == "from" {
            f[model::extra(F::ProseFromB)] = 1.0;
        }
        if back(x, 1) == "from" {
            f[model::extra(F::ProseFromA)] = 1.0;
        }
        if sx == 0 && sy == 0 && self.say.clause.contains(&x.at) && self.say.clause.contains(&y.at)
        {
            f[model::extra(F::ProseClause)] = 1.0;
        }
        if x.amount.dimension() == Dimension::Plain && x.noun.is_some() && x.noun == y.noun {
            f[model::extra(F::ProseNoun)] = 1.0;
        }
        let instead = |f: &Fact| {
            [
                "of",
                "against",
                "vs",
                "versus",
                "where",
                "before",
                "previously",
                "than",
                "was",
                "were",
                "compared",
                "had",
                "used",
            ]
            .iter()
            .any(|w| back(f, 1) == *w || back(f, 2) == *w)
        };
        if instead(y) && !instead(x) {
            f[model::extra(F::ProseInstead)] = 1.0;
        }
        let now = |f: &Fact| {
            ["now", "is", "to", "after", "takes"]
                .iter()
                .any(|w| back(f, 1) == *w || back(f, 2) == *w)
        };
        if now(x) && !now(y) {
            f[model::extra(F::ProseNow)] = 1.0;
        }
        // The words of the claim are those of the amount's clause.
        let clause = &self.zones.bags[Zone::Clause as usize];
        let than = &self.zones.bags[Zone::Than as usize];
        let share =
            |bag: &Bag, fact: &Fact| fact.telling.iter().filter(|w| bag.contains_key(*w)).count();
        f[model::extra(F::ProseWords)] =
            (share(clause, x).min(3) as f64 + share(clause, y).min(3) as f64) / 3.0;
        f[model::extra(F::ProseThan)] = share(than, y).min(2) as f64 - share(than, x).min(2) as f64;
        match x.amount.dimension() {
            Dimension::Percent | Dimension::Times => f[model::extra(F::PercentCells)] = 1.0,
            Dimension::Plain | Dimension::Count => f[model::extra(F::PlainCells)] = 1.0,
            _ => {}
        }
        f
    }
}

/// Two amounts: "took 190 minutes and takes 65 now" has the unit at one of them alone.
fn units(x: &Fact, y: &Fact) -> (Amount, Amount) {
    let takes = |bare: &Fact, other: Amount| {
        let with =
            !plain(other) && !matches!(other.dimension(), Dimension::Percent | Dimension::Times);
        bare.bare && plain(bare.amount) && with
    };
    if takes(x, y.amount) {
        (x.amount.of(y.amount.measure), y.amount)
    } else if takes(y, x.amount) {
        (x.amount, y.amount.of(x.amount.measure))
    } else {
        (x.amount, y.amount)
    }
}
