//! The clock of a run: `CLOCK_MONOTONIC` in nanoseconds, which all its processes share. Durations are
//! never taken from the time of day, which may step. CPU time of the caller is read here, too.

use std::time::Duration;

use rustix::time::{ClockId, clock_getres, clock_gettime};

/// How often the clock is read to learn what that costs.
const READINGS: usize = 32;

/// Nanoseconds of `CLOCK_MONOTONIC` now.
pub fn monotonic_ns() -> u64 {
    let t = clock_gettime(ClockId::Monotonic);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// CPU time (user and system) of this process so far.
pub fn process_cpu_time() -> Duration {
    cpu_time(ClockId::ProcessCPUTime)
}

/// CPU time (user and system) of the calling thread so far.
pub fn thread_cpu_time() -> Duration {
    cpu_time(ClockId::ThreadCPUTime)
}

fn cpu_time(clock: ClockId) -> Duration {
    let t = clock_gettime(clock);
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}

/// The clock's resolution and what reading it costs (the median of some readings in a row), seconds.
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
