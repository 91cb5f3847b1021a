//! Clocks of the generator: `CLOCK_MONOTONIC` for times, the thread's CPU clock for its own cost.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Returns `CLOCK_MONOTONIC` in nanoseconds: the clock of assay's phases and samples.
#[inline]
pub fn now_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// Returns the CPU time (user and system) of the calling thread since it started, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ThreadCPUTime))
}

#[inline]
fn nanoseconds(t: Timespec) -> u64 {
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Converts a time or duration in nanoseconds to the kernel's type.
pub(crate) fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
}

#[cfg(test)]
mod tests {
    #[test]
    fn both_clocks_advance_and_the_cpu_clock_no_faster() {
        let (wall, cpu) = (super::now_ns(), super::thread_cpu_ns());
        let mut x = 1u64;
        while super::thread_cpu_ns() == cpu {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        assert!(super::now_ns() > wall);
    }
}
