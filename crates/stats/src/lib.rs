//! The statistics of assay as pure functions over slices: summaries, ratios between treatments with
//! intervals and verdicts, sequential looks, variance by level, warm-up, means of suites, scaling
//! fits, curves and the A/A floor. Nothing here does I/O, reads a clock or keeps state; functions
//! that use random numbers take a seed. `docs/statistics.md` defines each method and explains its
//! use.
//!
//! Start with [`summary::summarize`], [`compare::compare`], [`sequential::look`],
//! [`scaling::scaling`] or [`curve::merge`]; they return the types of `assay-model`.

pub mod aa;
pub mod compare;
pub mod curve;
pub mod distribution;
pub mod estimate;
pub mod means;
pub mod outlier;
pub mod percentile;
pub mod power;
pub mod rank;
pub mod ratio;
pub mod rng;
pub mod roughness;
pub mod scaling;
pub mod segment;
pub mod sequential;
pub mod series;
pub mod summary;
pub mod usl;
pub mod variance;
mod verdict;
pub mod warmup;

pub use compare::{CompareInput, Samples, compare, compare_family};
pub use sequential::{Look, LookInput, look};
pub use summary::summarize;
