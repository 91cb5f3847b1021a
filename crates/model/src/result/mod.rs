//! Results: summaries, comparisons, findings, explanations.

pub(super) mod across;
pub(super) mod analysis;
pub(super) mod comparison;
pub(super) mod explanation;
pub(super) mod finding;
pub(super) mod observation;
pub(super) mod profile;
pub(super) mod self_comparison;
