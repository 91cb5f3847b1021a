//! Name, parameters and metrics of the workload.

use crate::builtin::memory::params::MemoryParams;
use crate::declare::spec;

/// Name of the workload and of its trial program.
pub const NAME: &str = "memory";

spec! {
    /// Moves memory with one thread on each CPU: measures bandwidth by working set, latency under
    /// load, latency between CPUs, or the time of page faults.
    NAME, MemoryParams::rows();
    /// Bandwidth of `triad`, or else of the first kernel, in the largest working set: all bytes
    /// that the kernel reads and writes, without the lines that stores fetch first, over the time
    /// of the best repetition.
    "bandwidth", "B/s", Higher, Measured;
    /// The same from the median repetition.
    "median_bandwidth", "B/s", Higher, Measured;
    /// Bandwidth of `copy` in the largest working set, best repetition.
    "copy", "B/s", Higher, Measured;
    /// The same of `scale`.
    "scale", "B/s", Higher, Measured;
    /// The same of `add`.
    "add", "B/s", Higher, Measured;
    /// The same of `triad`.
    "triad", "B/s", Higher, Measured;
    /// The same of `read`.
    "read", "B/s", Higher, Measured;
    /// The same of `write`.
    "write", "B/s", Higher, Measured;
    /// The same of `copy-nt`.
    "copy-nt", "B/s", Higher, Measured;
    /// The same of `write-nt`.
    "write-nt", "B/s", Higher, Measured;
    /// The same of `memcpy`.
    "memcpy", "B/s", Higher, Measured;
    /// Number of plateaus of the curve of the deciding kernel; their edges are its knees. Missing
    /// for fewer than ten working sets.
    "plateaus", "1", Neither, Estimated;
    /// Latency of a load while the other threads move memory without a limit (`loaded-latency`).
    "loaded_latency", "s", Lower, Measured;
    /// Latency of a load without traffic.
    "idle_latency", "s", Lower, Measured;
    /// Bandwidth of the traffic without a limit.
    "traffic", "B/s", Higher, Measured;
    /// Time for a cache line to go from one CPU to another: half a round trip, averaged over all
    /// pairs (`core-to-core`).
    "core_latency", "s", Lower, Measured;
    /// The same of the nearest pair.
    "min_core_latency", "s", Lower, Measured;
    /// The same of the farthest pair.
    "max_core_latency", "s", Lower, Measured;
    /// Time of a first touch of memory, over the page faults that the kernel counted meanwhile:
    /// median of threads and repetitions (`page-faults`).
    "fault_time", "s", Lower, Measured;
    /// Page faults of a thread in a repetition, median.
    "faults", "1", Neither, Measured, counted;
    /// Memory that one fault makes available, median.
    "bytes_per_fault", "B", Neither, Measured;
    /// Memory touched first by a thread per second, median.
    "first_touch_bandwidth", "B/s", Higher, Measured;
}
