//! Schedule of a sampler: absolute points in time, so that a late sample does not shift later ones.

use std::time::Duration;

/// Shortest interval that a sampler accepts. The kernel counts CPU time in ticks of up to 10 ms, so
/// that shorter intervals would mostly show the ticks.
pub const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// Points at `start + k * interval`, k from 1, in nanoseconds of `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SamplingGrid {
    start_ns: u64,
    interval_ns: u64,
}

impl SamplingGrid {
    /// Creates a grid; an interval of 0 is taken as 1 ns.
    pub fn new(start_ns: u64, interval: Duration) -> Self {
        let interval_ns = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX).max(1);
        Self { start_ns, interval_ns }
    }

    /// Returns the time at which point `k` is due.
    pub fn due_ns(&self, k: u64) -> u64 {
        self.start_ns.saturating_add(k.saturating_mul(self.interval_ns))
    }

    /// Returns the first point after `k` that is still in the future at `now_ns`. The points
    /// between the two were missed.
    pub fn next(&self, k: u64, now_ns: u64) -> u64 {
        let passed = now_ns.saturating_sub(self.start_ns) / self.interval_ns;
        passed.max(k).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_ticks_do_not_move_the_grid() {
        let grid = SamplingGrid::new(1_000, Duration::from_nanos(100));
        assert_eq!(grid.due_ns(1), 1_100);
        assert_eq!(grid.next(0, 1_000), 1);
        assert_eq!(grid.next(1, 1_130), 2, "30 late: the next is due at 1200 all the same");
        assert_eq!(grid.next(2, 1_560), 6, "3, 4 and 5 were missed");
        assert_eq!(grid.next(3, 1_299), 4, "never the same point twice");
        assert_eq!(SamplingGrid::new(5, Duration::MAX).due_ns(2), u64::MAX);
    }
}
