//! Response times: counts, heat map, search for the highest rate.

pub mod heat;
pub mod limiter;
pub mod report;
pub(super) mod search;
pub(super) mod worker_stats;
