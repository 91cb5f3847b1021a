//! What is said beside a claim tells what it is about: "4 % faster on A and 7 % on B" are of one column and of one
//! baseline, and which these are the one that agrees shows.

use std::collections::VecDeque;

use super::book::Place;
use super::called::Called;
use super::choice::{Choice, values};
use super::model::{F, extra};
use super::reading::{Fit, Reading};

/// How many things said before and after are looked at.
const REACH: usize = 3;
/// Readings less likely than this neither tell nor are told.
const LEAST: f64 = 1e-4;

/// What is set here.
pub(super) const FEATURES: [F; 8] = [
    F::BesideFieldBefore,
    F::BesideFieldAfter,
    F::BesideField,
    F::BesideBaseline,
    F::BesideSubjectNear,
    F::BesideSubject,
    F::BesideSameNear,
    F::BesideSame,
];

/// Of what a reading is.
struct Of {
    grid: Option<usize>,
    /// Subject, baseline, and the column or row that both are of.
    names: [Called; 3],
    values: Vec<f64>,
}

impl Of {
    fn new(r: &Reading) -> Of {
        let grid = r.places.iter().find_map(|p| match p {
            Place::Cell { grid, .. } => Some(*grid),
            Place::Prose { .. } => None,
        });
        Of { grid, names: r.names, values: values(r) }
    }

    fn is_of_field(&self, other: &Of) -> bool {
        self.grid.is_some() && self.grid == other.grid && self.names[2] == other.names[2]
    }

    /// The same baseline in the same column.
    fn is_of_baseline(&self, other: &Of) -> bool {
        self.is_of_field(other) && self.names[1] == other.names[1]
    }

    /// The same two in another column.
    fn is_of_subject(&self, other: &Of) -> bool {
        self.grid.is_some()
            && self.grid == other.grid
            && self.names[2] != other.names[2]
            && self.names[..2] == other.names[..2]
    }

    fn is_same(&self, other: &Of) -> bool {
        self.grid == other.grid && self.values == other.values
    }
}

/// The readings of something said that agree with it, with their probability.
struct Told(Vec<(f64, Of)>);

impl Told {
    fn new(choice: &Choice) -> Told {
        let agrees = |(r, fit): &(&Reading, &Fit)| **fit == Fit::Yes && r.prior > LEAST;
        let all = choice.readings.iter().zip(&choice.fits).filter(agrees);
        Told(all.map(|(r, _)| (r.prior, Of::new(r))).collect())
    }

    /// How likely it is of the field of a reading, of its baseline, of its subject, of its values.
    fn mass(&self, own: &Of) -> [f64; 4] {
        let mut mass = [0.0; 4];
        for (p, other) in &self.0 {
            let is = [
                own.is_of_field(other),
                own.is_of_baseline(other),
                own.is_of_subject(other),
                own.is_same(other),
            ];
            for (sum, _) in mass.iter_mut().zip(is).filter(|(_, is)| *is) {
                *sum += p;
            }
        }
        mass.map(|m: f64| m.min(1.0))
    }
}

/// Things said, each kept until those behind it are known.
#[derive(Default)]
pub(super) struct Window {
    told: VecDeque<Told>,
    waiting: VecDeque<Choice>,
}

impl Window {
    /// Takes the next, and gives the one whose neighbours are known now.
    pub(super) fn push(&mut self, choice: Choice) -> Option<Choice> {
        self.told.push_back(Told::new(&choice));
        self.waiting.push_back(choice);
        if self.waiting.len() > REACH { self.pop() } else { None }
    }

    /// The next of those that wait.
    pub(super) fn pop(&mut self) -> Option<Choice> {
        let at = self.told.len() - self.waiting.len();
        let mut choice = self.waiting.pop_front()?;
        for r in choice.readings.iter_mut().filter(|r| r.prior > LEAST) {
            self.mark(at, r);
        }
        if at >= REACH {
            self.told.pop_front();
        }
        Some(choice)
    }

    /// Sets the features of a reading of the one at a place.
    fn mark(&self, at: usize, r: &mut Reading) {
        let own = Of::new(r);
        let all = at.saturating_sub(REACH)..(at + REACH + 1).min(self.told.len());
        let near = at.saturating_sub(1)..(at + 2).min(self.told.len());
        let mut mass = [[0.0; 4]; 2 * REACH + 1];
        for i in all.clone().filter(|i| *i != at) {
            mass[i - all.start] = self.told[i].mass(&own);
        }
        let most = |range: std::ops::Range<usize>, which: usize| {
            let mass = range.map(|i| mass[i - all.start][which]);
            (1.0 + 20.0 * mass.fold(0.0, f64::max)).ln()
        };
        let [field, baseline, subject, same] = [0, 1, 2, 3];
        let found = [
            most(near.start..at, field),
            most(at..near.end, field),
            most(all.clone(), field),
            most(all.clone(), baseline),
            most(near.clone(), subject),
            most(all.clone(), subject),
            most(near, same),
            most(all.clone(), same),
        ];
        for (f, v) in FEATURES.into_iter().zip(found) {
            r.features[extra(f)] = v;
        }
    }
}
