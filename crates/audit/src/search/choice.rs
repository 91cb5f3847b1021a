//! What was found for something said: its readings, which of them agree, and what the judges of names made of it.

use super::reading::{Fit, Reading};
use crate::claim::{Claim, ClaimVerdict};

/// What the judges of names found of the same words.
pub(crate) struct Named {
    pub verdict: ClaimVerdict,
    pub inputs: Vec<f64>,
}

impl Named {
    pub(super) fn of(claim: &Claim) -> Named {
        let inputs = claim.inputs.iter().map(|i| i.value).collect();
        Named { verdict: claim.verdict, inputs }
    }

    /// Whether it rests on these values.
    pub(super) fn rests_on(&self, values: &[f64]) -> bool {
        values.iter().all(|v| self.inputs.contains(v))
    }
}

/// What was found for something said.
pub(crate) struct Choice {
    pub sentence: usize,
    pub say: usize,
    pub readings: Vec<Reading>,
    pub fits: Vec<Fit>,
    pub named: Vec<Named>,
}

/// The values that a reading is about, as printed, one for each of its places.
pub(crate) fn values(r: &Reading) -> Vec<f64> {
    match &r.derived {
        Some(values) => values.clone(),
        None => first_two(r).into_iter().flatten().collect(),
    }
}

/// The first two of the values that a reading is about.
pub(super) fn first_two(r: &Reading) -> [Option<f64>; 2] {
    match &r.derived {
        Some(values) => [0, 1].map(|i| values.get(i).copied()),
        None => [Some(r.a), r.b].map(|a| Some(a?.printed)),
    }
}

/// Whether two readings are about the same values, both as they are printed or both put together of them.
pub(super) fn has_same_values(x: &Reading, y: &Reading) -> bool {
    let printed = |r: &Reading| (r.a.printed, r.b.map(|b| b.printed));
    match (&x.derived, &y.derived) {
        (None, None) => printed(x) == printed(y),
        (Some(values), Some(others)) => values == others,
        _ => false,
    }
}
