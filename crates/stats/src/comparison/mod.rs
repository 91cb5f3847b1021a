//! Comparisons of treatments: ratios, intervals, ranks, verdicts, sequential looks.

pub mod aa;
pub mod compare;
pub mod estimate;
pub mod power;
pub mod rank;
pub mod ratio;
pub mod sequential;
pub mod variance;
pub(super) mod verdict;
