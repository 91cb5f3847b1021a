//! The rows of data that describe the workload: its parameters and its metrics.

use assay_model::{Better, Kind, MetricSpec, WorkloadSpec};

use super::params::Given;
use crate::rows::metric;

/// Its name, and that of its program.
pub const NAME: &str = "memcached";

/// The workload's name, parameters and metrics.
pub fn spec() -> WorkloadSpec {
    WorkloadSpec {
        name: NAME.into(),
        help: "Starts a real memcached, fills it with small, medium and large objects, asks for them over many \
               connections in a closed loop or at a rate, checks every value, and stops it."
            .into(),
        params: Given::rows(),
        metrics: metrics(),
        suite: None,
    }
}

fn metrics() -> Vec<MetricSpec> {
    use Better::{Higher, Lower, Neither};
    use Kind::{Derived, Measured};
    vec![
        metric(
            "throughput",
            "ops/s",
            Higher,
            Measured,
            "Right answers that came in the measurement window over its length. For `max-rate` that at the rate \
             found; for `saturation` the highest of all rates.",
        ),
        metric(
            "max_rate",
            "ops/s",
            Higher,
            Measured,
            "The highest rate that kept the latency limit (`max-rate` alone).",
        ),
        metric(
            "p50",
            "s",
            Lower,
            Measured,
            "Median response time of gets, hits and misses of all classes.",
        ),
        metric(
            "p99",
            "s",
            Lower,
            Measured,
            "99th percentile; missing with fewer than ten gets beyond it.",
        ),
        metric("p99.9", "s", Lower, Measured, "99.9th percentile, likewise."),
        metric("set_p99", "s", Lower, Measured, "99th percentile of sets, likewise."),
        metric("hit_ratio", "1", Neither, Measured, "Hits among the gets of the window."),
        metric("bytes_in", "B/s", Neither, Measured, "What the load generator received."),
        metric("bytes_out", "B/s", Neither, Measured, "What it sent."),
        metric(
            "client_cpu",
            "us/op",
            Lower,
            Derived,
            "CPU time of the load generator for an answer.",
        ),
        metric(
            "client_busy",
            "1",
            Neither,
            Measured,
            "The share of a CPU that its busiest thread used.",
        ),
        metric(
            "server_cpu",
            "us/op",
            Lower,
            Derived,
            "CPU time of the server for an answer, by its own count; missing where it does not \
             report it.",
        ),
        metric(
            "server_busy",
            "1",
            Neither,
            Measured,
            "The share of a CPU that its busiest thread used; missing for a server on another machine.",
        ),
        metric(
            "server_cpus",
            "1",
            Neither,
            Measured,
            "How many CPUs' worth of time it used, likewise.",
        ),
        metric(
            "evictions",
            "1",
            Lower,
            Measured,
            "Objects that the server threw out for others in the window.",
        ),
        metric(
            "timed_out",
            "1",
            Lower,
            Measured,
            "Operations of the window that came to no answer.",
        ),
        metric(
            "errors",
            "1",
            Lower,
            Measured,
            "Wrong answers of the whole trial; above 0 it is invalid.",
        ),
        metric(
            "missing",
            "1",
            Lower,
            Measured,
            "Operations of the whole trial without an answer within `op_timeout`, or whose connection was lost; judged \
             by `max_missing`.",
        ),
    ]
}
