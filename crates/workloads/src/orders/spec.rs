//! The rows of data that describe the workload: its parameters and its metrics.

use super::params::Params;
use crate::declare::spec;

/// Its name, and that of its program.
pub const NAME: &str = "orders";

/// The name of the primary metric and of its curve, which is also its unit.
pub const SCORE: &str = "orders/s";

spec! {
    /// The middle tier of a wholesale supplier in Java, in one or many virtual machines: rising
    /// numbers of warehouses, one thread each, and a score over those from the expected peak on.
    NAME, Params::rows();
    /// The score: transactions of all kinds a second, summed over the instances, and the mean over
    /// the points of N to 2N warehouses.
    "orders/s", "orders/s", Higher, Measured;
    /// The score over the instances.
    "orders/s per instance", "orders/s", Higher, Derived;
    /// The best point of all, scored or not.
    "peak", "orders/s", Higher, Measured;
    /// Warehouses of an instance at that point.
    "peak_warehouses", "1", Neither, Measured;
    /// Mean time of a new order over the scored points.
    "response_mean", "s", Lower, Measured;
    /// The longest transaction of the scored points.
    "response_max", "s", Lower, Measured;
    /// Time that the collectors report over the time of the scored points with their ramps, mean of
    /// the instances.
    "collection_share", "1", Lower, Measured;
    /// The largest heap in use of an instance at the end of a point, garbage included.
    "heap_used", "B", Lower, Measured;
    /// The sum of the instances' largest resident sets; missing where it cannot be read.
    "resident", "B", Lower, Measured;
    /// The share of the resident memory that huge pages hold at the end; missing likewise.
    "huge_share", "1", Neither, Measured;
    /// The most of a thread less the least, over the most: the largest of the scored points.
    "thread_spread", "1", Lower, Measured;
    /// How far apart instances began a point, at most; 0 for one.
    "start_spread", "s", Lower, Measured;
    /// How far apart they stopped, likewise.
    "stop_spread", "s", Lower, Measured;
    /// The longest time from the end of a point to the begin of the next one.
    "pause", "s", Lower, Measured;
    /// The share of a CPU that the process used which drives the instances, over the scored points.
    "controller_busy", "1", Lower, Measured;
}
