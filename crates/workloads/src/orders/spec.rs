//! The rows of data that describe the workload: its parameters and its metrics.

use assay_model::{Better, Kind, MetricSpec, WorkloadSpec};

use super::params::Params;
use crate::rows::metric;

/// Its name, and that of its program.
pub const NAME: &str = "orders";

/// The name of the primary metric and of its curve, which is also its unit.
pub const SCORE: &str = "orders/s";
/// The score over the instances.
pub const EACH: &str = "orders/s per instance";

/// The workload's name, parameters and metrics.
pub fn spec() -> WorkloadSpec {
    WorkloadSpec {
        name: NAME.into(),
        help: "The middle tier of a wholesale supplier in Java, in one or many virtual machines: rising numbers of \
               warehouses, one thread each, and a score over those from the expected peak on."
            .into(),
        params: Params::rows(),
        metrics: metrics(),
        suite: None,
    }
}

fn metrics() -> Vec<MetricSpec> {
    use Better::{Higher, Lower, Neither};
    use Kind::{Derived, Measured};
    vec![
        metric(
            SCORE,
            SCORE,
            Higher,
            Measured,
            "The score: transactions of all kinds a second, summed over the instances, and the mean over the points of N \
             to 2N warehouses.",
        ),
        metric(EACH, SCORE, Higher, Derived, "The score over the instances."),
        metric("peak", SCORE, Higher, Measured, "The best point of all, scored or not."),
        metric(
            "peak_warehouses",
            "1",
            Neither,
            Measured,
            "Warehouses of an instance at that point.",
        ),
        metric(
            "response_mean",
            "s",
            Lower,
            Measured,
            "Mean time of a new order over the scored points.",
        ),
        metric(
            "response_max",
            "s",
            Lower,
            Measured,
            "The longest transaction of the scored points.",
        ),
        metric(
            "collection_share",
            "1",
            Lower,
            Measured,
            "Time that the collectors report over the time of the scored points with their ramps, mean of the instances.",
        ),
        metric(
            "heap_used",
            "B",
            Lower,
            Measured,
            "The largest heap in use of an instance at the end of a point, garbage included.",
        ),
        metric(
            "resident",
            "B",
            Lower,
            Measured,
            "The sum of the instances' largest resident sets; missing where it cannot be read.",
        ),
        metric(
            "huge_share",
            "1",
            Neither,
            Measured,
            "The share of the resident memory that huge pages hold at the end; missing likewise.",
        ),
        metric(
            "thread_spread",
            "1",
            Lower,
            Measured,
            "The most of a thread less the least, over the most: the largest of the scored points.",
        ),
        metric(
            "start_spread",
            "s",
            Lower,
            Measured,
            "How far apart instances began a point, at most; 0 for one.",
        ),
        metric("stop_spread", "s", Lower, Measured, "How far apart they stopped, likewise."),
        metric(
            "pause",
            "s",
            Lower,
            Measured,
            "The longest time from the end of a point to the begin of the next one.",
        ),
        metric(
            "controller_busy",
            "1",
            Lower,
            Measured,
            "The share of a CPU that the process used which drives the instances, over the scored points.",
        ),
    ]
}
