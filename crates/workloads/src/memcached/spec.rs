//! The rows of data that describe the workload: its parameters and its metrics.

use super::params::Params;
use crate::declare::spec;

/// Its name, and that of its program.
pub const NAME: &str = "memcached";

spec! {
    /// Starts a real memcached, fills it with small, medium and large objects, asks for them over
    /// many connections in a closed loop or at a rate, checks every value, and stops it.
    NAME, Params::rows();
    /// Right answers that came in the measurement window over its length. For `max-rate` that at
    /// the rate found; for `saturation` the highest of all rates.
    "throughput", "ops/s", Higher, Measured;
    /// The highest rate that kept the latency limit (`max-rate` alone).
    "max_rate", "ops/s", Higher, Measured;
    /// Median response time of gets, hits and misses of all classes.
    "p50", "s", Lower, Measured;
    /// 99th percentile; missing with fewer than ten gets beyond it.
    "p99", "s", Lower, Measured;
    /// 99.9th percentile, likewise.
    "p99.9", "s", Lower, Measured;
    /// 99th percentile of sets, likewise.
    "set_p99", "s", Lower, Measured;
    /// Hits among the gets of the window.
    "hit_ratio", "1", Neither, Measured;
    /// What the load generator received.
    "bytes_in", "B/s", Neither, Measured;
    /// What it sent.
    "bytes_out", "B/s", Neither, Measured;
    /// CPU time of the load generator for an answer.
    "client_cpu", "us/op", Lower, Derived;
    /// The share of a CPU that its busiest thread used.
    "client_busy", "1", Neither, Measured;
    /// CPU time of the server for an answer, by its own count; missing where it does not report it.
    "server_cpu", "us/op", Lower, Derived;
    /// The share of a CPU that its busiest thread used; missing for a server on another machine.
    "server_busy", "1", Neither, Measured;
    /// How many CPUs' worth of time it used, likewise.
    "server_cpus", "1", Neither, Measured;
    /// Objects that the server threw out for others in the window.
    "evictions", "1", Lower, Measured;
    /// Operations of the window that came to no answer.
    "timed_out", "1", Lower, Measured;
    /// Wrong answers of the whole trial; above 0 it is invalid.
    "errors", "1", Lower, Measured;
    /// Operations of the whole trial without an answer within `op_timeout`, or whose connection was
    /// lost; judged by `max_missing`.
    "missing", "1", Lower, Measured;
}
