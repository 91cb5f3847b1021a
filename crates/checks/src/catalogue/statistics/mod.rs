//! Checks F28 to F45 and F61: design and statistics.

pub(crate) mod cold_start;
pub(crate) mod detectable_effect;
pub(crate) mod direction_supported;
pub(crate) mod enough_runs;
pub(crate) mod exclusions_logged;
pub(crate) mod interleaved;
pub(crate) mod interval_present;
pub(crate) mod many_comparisons;
pub(crate) mod mean_sensitivity;
mod modes;
pub(crate) mod recomputes;
pub(crate) mod right_mean;
pub(crate) mod same_statistic;
pub(crate) mod self_comparison;
pub(crate) mod shape_fits_summary;
pub(crate) mod stopping_rule;
mod trend;
pub(crate) mod unit_of_replication;
