//! The clock of a run: `CLOCK_MONOTONIC` in nanoseconds, which all its processes share. Durations
//! are never computed from the time of day, which may step. Also reads the caller's CPU time.

use std::time::Duration;

use rustix::time::{ClockId, clock_getres, clock_gettime};

/// Number of readings with which the cost of a reading is measured.
const READINGS: usize = 32;

/// Returns the current `CLOCK_MONOTONIC` in nanoseconds.
pub fn monotonic_ns() -> u64 {
    let t = clock_gettime(ClockId::Monotonic);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Returns the CPU time (user and system) of this process so far.
pub fn process_cpu_time() -> Duration {
    cpu_time(ClockId::ProcessCPUTime)
}

/// Returns the CPU time (user and system) of the calling thread so far.
pub fn thread_cpu_time() -> Duration {
    cpu_time(ClockId::ThreadCPUTime)
}

fn cpu_time(clock: ClockId) -> Duration {
    let t = clock_gettime(clock);
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}

/// Returns the clock's resolution and the cost of a reading (the median of series of readings),
/// both in seconds.
pub fn quality() -> (f64, f64) {
    let r = clock_getres(ClockId::Monotonic);
    let resolution = r.tv_sec as f64 + r.tv_nsec as f64 * 1e-9;
    let mut costs: Vec<u64> = (0..READINGS)
        .map(|_| {
            let began = monotonic_ns();
            for _ in 0..READINGS {
                monotonic_ns();
            }
            monotonic_ns() - began
        })
        .collect();
    costs.sort_unstable();
    (resolution, costs[costs.len() / 2] as f64 * 1e-9 / READINGS as f64)
}
