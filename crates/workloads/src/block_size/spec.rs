//! The rows of data that describe the workload: its parameters and its metrics.

use super::params::Params;
use crate::declare::spec;

spec! {
    /// Reads (or writes) a file sequentially with read(2) at many buffer sizes, from the page cache
    /// or past it, in several processes at once.
    super::NAME, Params::rows();
    /// The geometric mean of the throughput at the powers of two from 512 B to 64 KiB; of all
    /// powers of two, or of all sizes, where the trial visits none of those; missing if one of them
    /// could not be measured.
    "throughput", "B/s", Higher, Measured;
    /// The throughput at `best_size`: on the smoothed curve, or as measured below 50 sizes.
    "peak_throughput", "B/s", Higher, Estimated;
    /// The visited size with the highest throughput: on the smoothed curve, or as measured below 50
    /// sizes.
    "best_size", "B", Neither, Estimated;
    /// What dd adds to each read(2): one write(2) to /dev/null.
    "dd_overhead", "s", Lower, Measured;
    /// The share of slices left out because the kernel gave the CPU to another program, or because
    /// the slice began late.
    "excluded_fraction", "1", Neither, Measured;
}
