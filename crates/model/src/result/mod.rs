//! Results: summaries, comparisons, explanations.

pub(super) mod across;
pub(super) mod analysis;
pub(super) mod comparison;
pub(super) mod explanation;
pub(super) mod profile;
pub(super) mod suite;
