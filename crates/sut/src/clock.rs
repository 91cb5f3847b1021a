//! The clock of a run: `CLOCK_MONOTONIC` in nanoseconds, which all its processes share. Durations are
//! never taken from the time of day, which may step.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of `CLOCK_MONOTONIC` now.
pub fn monotonic_ns() -> u64 {
    let t = clock_gettime(ClockId::Monotonic);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}
