//! The rows of data that describe the workload: its parameters and its metrics.

use assay_model::{Better, Kind, WorkloadSpec};

use super::params::Params;
use crate::rows::metric;

/// The workload's name, parameters and metrics.
pub fn spec() -> WorkloadSpec {
    WorkloadSpec {
        name: super::NAME.into(),
        help: "Follows a chain of pointers through working sets of many sizes, each load waiting for the \
               one before: what a load costs, and where caches and TLBs end."
            .into(),
        params: Params::rows(),
        metrics: vec![
            metric(
                "latency",
                "s",
                Better::Lower,
                Kind::Measured,
                "The time of a load in the largest working set.",
            ),
            metric(
                "mean_latency",
                "s",
                Better::Lower,
                Kind::Measured,
                "The geometric mean over all working sets of the trial.",
            ),
            metric(
                "huge_page_coverage",
                "1",
                Better::Neither,
                Kind::Measured,
                "The share of the memory that large pages back, from smaps, at the end.",
            ),
            metric(
                "plateaus",
                "1",
                Better::Neither,
                Kind::Estimated,
                "Levels of the curve; their edges are its knees. Missing below ten working sets.",
            ),
        ],
        suite: None,
    }
}
