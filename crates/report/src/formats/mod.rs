//! Formats that a run is written in, a file each.

pub mod benchstat;
pub mod csv;
pub mod dashboards;
pub(super) mod hyperfine;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod openmetrics;
