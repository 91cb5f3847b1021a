//! Checks F16 to F26: workload and measurement.

pub(crate) mod coordinated_omission;
pub(crate) mod generator_not_limit;
pub(crate) mod limiter_known;
pub(crate) mod output_verified;
pub(crate) mod percentile_support;
pub(crate) mod same_work;
pub(crate) mod steady_state;
pub(crate) mod suite_complete;
pub(crate) mod suite_read;
pub(crate) mod train_test_split;
pub(crate) mod warm_up_equal;
