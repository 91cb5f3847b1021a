//! The rows of data that describe the workload: its parameters and its metrics.

use super::params::Params;
use crate::declare::spec;

spec! {
    /// Follows a chain of pointers through working sets of many sizes, each load waiting for the
    /// one before: what a load costs, and where caches and TLBs end.
    super::NAME, Params::rows();
    /// The time of a load in the largest working set.
    "latency", "s", Lower, Measured;
    /// The geometric mean over all working sets of the trial.
    "mean_latency", "s", Lower, Measured;
    /// The share of the memory that large pages back, from smaps, at the end.
    "huge_page_coverage", "1", Neither, Measured;
    /// Levels of the curve; their edges are its knees. Missing below ten working sets.
    "plateaus", "1", Neither, Estimated;
}
