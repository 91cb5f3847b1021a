//! Builds the parts of each report, once for all outputs.

pub(crate) mod across;
pub(crate) mod benchmarks;
pub(crate) mod columns;
pub(crate) mod curves;
pub mod draw;
pub(crate) mod explain;
pub(crate) mod findings;
pub(super) mod headline;
pub(crate) mod io;
pub mod landscape;
pub(crate) mod matrix;
pub(crate) mod method;
pub(crate) mod metrics;
pub(crate) mod percentiles;
pub mod profile;
pub(crate) mod results;
pub(crate) mod scaling;
pub(crate) mod significance;
pub(crate) mod suite;
pub mod system;
pub(crate) mod tasks;
pub(crate) mod trials;
