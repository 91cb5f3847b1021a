//! Readings of two amounts that the prose states.

use super::model::{self, COUNT, F};
use super::words::{Bag, Zone};
use crate::evidence::amount::Dimension;
use crate::evidence::grid::Better;
use crate::evidence::metric::Metric;

use super::book::{Fact, Place};
use super::reading::{Reading, View, same};

impl View<'_> {
    /// Pairs of amounts in the prose at and before the claim.
    pub(super) fn of_prose(&self, out: &mut Vec<Reading>) {
        let block = self.book.block(self.sentence);
        let facts: Vec<&Fact> = self
            .book
            .facts
            .iter()
            .filter(|f| {
                let near = f.sentence <= self.sentence && self.sentence - f.sentence <= 4;
                near && (self.book.block(f.sentence) == block || self.sentence - f.sentence <= 2)
            })
            .collect();
        let facts = &facts[facts.len().saturating_sub(10)..];
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
        let spoken = |w: &String| self.zones.bags[..3].iter().any(|b| b.contains_key(w));
        for twin in &self.book.twins {
            let (x, y) = (&self.book.facts[twin.facts.0], &self.book.facts[twin.facts.1]);
            let behind = x.sentence.max(y.sentence) > self.sentence;
            if behind || is_near(x) && is_near(y) || !twin.words.iter().any(spoken) {
                continue;
            }
            self.of_two(x, y, false, true, out);
            self.of_two(y, x, false, true, out);
        }
    }

    /// Two amounts, the first compared with the second: whether none of their kind stands between them, and whether they
    /// are of two clauses that say the same of two things.
    fn of_two(&self, x: &Fact, y: &Fact, next: bool, twin: bool, out: &mut Vec<Reading>) {
        if !x.amount.dimension().fits(y.amount.dimension())
            || !self.fits(x.amount)
            || same(x.amount, y.amount)
        {
            return;
        }
        let own = self.say.own.start;
        let mut f = Box::new([0.0; COUNT]);
        f[model::extra(F::Prose)] = 1.0;
        let (sx, sy) = (self.sentence - x.sentence, self.sentence - y.sentence);
        if sx == 0 && sy == 0 {
            f[model::extra(F::ProseSame)] = 1.0;
        }
        View::apart(&mut f, x.amount, y.amount);
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
        if twin {
            f[model::extra(F::ProseTwin)] = 1.0;
        }
        if next {
            f[model::extra(F::ProseNext)] = 1.0;
        }
        if (x.sentence, x.at) > (y.sentence, y.at) {
            f[model::extra(F::ProseOrder)] = 1.0;
        }
        let back = |fact: &Fact, n: usize| -> String {
            let tokens = self.book.tokens(fact.sentence);
            fact.at.checked_sub(n).map_or(String::new(), |p| tokens[p].lower.clone())
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
        let after = |fact: &Fact| {
            let tokens = self.book.tokens(fact.sentence);
            let end = self.book.says[fact.sentence]
                .iter()
                .find(|s| s.own.start == fact.at)
                .map_or(fact.at + 1, |s| s.own.end);
            tokens.get(end).map(|t| crate::evidence::name::stem(&t.lower)).filter(|w| w.len() > 2)
        };
        if x.amount.dimension() == Dimension::Plain && after(x).is_some() && after(x) == after(y) {
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
        let share = |bag: &Bag, other: &Bag| {
            other
                .keys()
                .filter(|w| {
                    w.len() > 2
                        && !crate::evidence::name::is_plain(w)
                        && bag.contains_key(w.as_str())
                })
                .count()
        };
        f[model::extra(F::ProseWords)] =
            (share(clause, &x.words).min(3) as f64 + share(clause, &y.words).min(3) as f64) / 3.0;
        f[model::extra(F::ProseThan)] =
            share(than, &y.words).min(2) as f64 - share(than, &x.words).min(2) as f64;
        let better = match x.amount.dimension() {
            Dimension::Time | Dimension::Bytes | Dimension::Power => Better::Less,
            Dimension::Rate | Dimension::ByteRate | Dimension::BitRate => Better::More,
            _ => Better::Unknown,
        };
        if self.metric != Metric::Any {
            let takes = self.metric.takes(x.amount.dimension(), better, "");
            f[model::extra(if takes { F::MetricYes } else { F::MetricNo })] = 1.0;
        }
        match x.amount.dimension() {
            Dimension::Percent | Dimension::Times => f[model::extra(F::PercentCells)] = 1.0,
            Dimension::Plain | Dimension::Count => f[model::extra(F::PlainCells)] = 1.0,
            _ => {}
        }
        let places = vec![
            Place::Prose { sentence: x.sentence, at: x.at },
            Place::Prose { sentence: y.sentence, at: y.at },
        ];
        let names = [String::new(), String::new(), String::new()];
        let again = self.last_of(&mut f, &names, &places, [true; 3]);
        out.push(Reading {
            again,
            ..Reading::of(x.amount, Some(y.amount), places, better, f, names)
        });
    }
}
