//! The statistics of assay as pure functions over slices: summaries, ratios between treatments with
//! intervals and verdicts, sequential looks, variance by level, warm-up, means of suites, scaling
//! fits, curves and the A/A floor. Nothing here does I/O, reads a clock or keeps state; functions
//! that use random numbers take a seed. `docs/internals/statistics.md` defines each method and
//! explains its use.
//!
//! Start with [`summary::summarize`], [`comparison::compare::compare`],
//! [`comparison::sequential::look`], [`curves::scaling::scaling`] or [`curves::curve::merge`]; they
//! return the types of `assay-model`.

pub mod comparison;
pub mod curves;
pub mod distribution;
pub mod means;
pub mod outlier;
pub mod percentile;
pub mod rng;
pub mod series;
pub mod summary;

pub use comparison::compare::{CompareInput, Samples, compare, compare_family, compare_suite};
pub use comparison::sequential::{LookInput, StopDecision, look};
pub use summary::summarize;
