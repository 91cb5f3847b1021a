//! What something said in numbers or in words that compare can be: so much more, so many times, so much of, this value,
//! the least of all.

use std::ops::Range;

use crate::detect::pointing::Way;
use crate::evidence::amount::{Amount, Dimension, Measure};
use crate::evidence::extreme::Most;
use crate::judge::reading::Bound;

/// What kind of thing is said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum What {
    /// So many per cent more, less, faster; of.
    Percent,
    /// So many times.
    Times,
    /// So many orders of magnitude.
    Orders,
    /// So much more or less, in a unit.
    Delta(Amount),
    /// A value.
    Value(Amount),
    /// Two values, one in the place of the other: "from 3 s to 2 s", "3 s instead of 2 s".
    Two(Amount, Amount),
    /// The least, the fastest.
    Most(Most),
    /// More than another, without a number.
    Beats,
    /// As much as another.
    Same,
}

impl What {
    /// Whether it states no number.
    pub(crate) fn is_unnumbered(self) -> bool {
        matches!(self, What::Most(_) | What::Beats | What::Same)
    }

    /// Whether two values are compared.
    pub(crate) fn is_pair(self) -> bool {
        !matches!(self, What::Value(_) | What::Most(_))
    }
}

/// Which place a rank is of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Ranked {
    First,
    /// So many come before it.
    Nth(usize),
    /// It alone goes that way: "the only one that got worse".
    Alone(Way),
}

/// Something that is said.
#[derive(Debug, Clone)]
pub(crate) struct Say {
    /// Its tokens: the number with its unit, or the word.
    pub own: Range<usize>,
    pub what: What,
    /// Which way the words point; `None` if they do not tell.
    pub way: Option<Way>,
    /// The word that points.
    pub word: Option<usize>,
    pub value: f64,
    pub step: f64,
    pub bound: Bound,
    pub ranked: Ranked,
    /// The tokens of its clause, with the one before that it goes on from.
    pub clause: Range<usize>,
    /// Where its own words begin.
    pub from: usize,
    /// Of these, what it is compared with.
    pub than: Range<usize>,
}

impl Say {
    /// The amount that it states, if it may state one: a value, or a percentage that no word makes a comparison.
    pub(crate) fn stated(&self) -> Option<Amount> {
        match self.what {
            What::Value(v) => Some(v),
            What::Percent if self.way.is_none() => Some(Amount {
                value: self.value,
                step: self.step,
                measure: Measure { dimension: Dimension::Percent, scale: 1.0, binary: None },
                printed: self.value,
            }),
            _ => None,
        }
    }
}
