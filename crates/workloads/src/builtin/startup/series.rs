//! Results computed from the samples of the machine: the time from which the CPUs are busy, the end
//! of reading, and shares over time.

use crate::builtin::startup::host::{EVERY_NS, HostCounters};

/// Number of samples that make one point of a curve.
const POINT: usize = 5;

/// The samples of a trial from the start of the copies on.
pub struct ActivitySeries<'a> {
    looks: &'a [HostCounters],
    start_ns: u64,
}

/// A point of the curves: shares of CPU time in percent, and the read rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ActivityPoint {
    /// End of the point's interval, ns of `CLOCK_MONOTONIC`.
    pub t_ns: u64,
    /// Nominal end in seconds since the start of the copies: a multiple of the curve's step.
    pub x_s: f64,
    pub user: f64,
    pub system: f64,
    pub idle: f64,
    /// Read rate in bytes per second; `None` if there is no device.
    pub rate: Option<f64>,
}

impl<'a> ActivitySeries<'a> {
    /// Creates the series of a trial whose copies ran from `start_ns` to `end_ns`.
    pub fn new(looks: &'a [HostCounters], start_ns: u64, end_ns: u64) -> Self {
        // The last sample may be slightly after the end, and is included.
        let last = looks.iter().position(|l| l.t_ns >= end_ns).map_or(looks.len(), |i| i + 1);
        ActivitySeries { looks: &looks[..last], start_ns }
    }

    fn since(&self, t_ns: u64) -> f64 {
        t_ns.saturating_sub(self.start_ns) as f64 * 1e-9
    }

    /// Returns the start, in seconds, of the first window of this length in which the share of user
    /// time was at least `user`, or `None` without one.
    pub fn time_to_user(&self, window_ns: u64, user: f64) -> Option<f64> {
        // A sample may be late by part of an interval.
        let enough = window_ns.saturating_sub(EVERY_NS / 2);
        self.looks.iter().find_map(|first| {
            let last = self.looks.iter().find(|l| l.t_ns >= first.t_ns + enough)?;
            let total = last.total.checked_sub(first.total).filter(|t| *t > 0)?;
            let share = last.user.checked_sub(first.user)? as f64 / total as f64;
            (share >= user).then(|| self.since(first.t_ns))
        })
    }

    /// Returns the time of the last read from the devices in seconds.
    pub fn read_done(&self) -> Option<f64> {
        let mut pairs = self.looks.windows(2).rev();
        pairs.find(|w| w[1].read > w[0].read).map(|w| self.since(w[1].t_ns))
    }

    /// Returns the bytes read from the devices.
    pub fn read(&self) -> Option<u64> {
        let (first, last) = (self.looks.first()?, self.looks.last()?);
        last.read?.checked_sub(first.read?)
    }

    /// Returns the share of the CPUs' user time that other programs than the copies used; the
    /// copies used `own` seconds. `None` if the CPUs had no user time.
    pub fn others(&self, own: f64) -> Option<f64> {
        let (first, last) = (self.looks.first()?, self.looks.last()?);
        let ticks = last.user.checked_sub(first.user).filter(|t| *t > 0)?;
        let all = ticks as f64 / rustix::param::clock_ticks_per_second() as f64;
        Some(((all - own) / all).max(0.0))
    }

    /// Returns the clock ticks of all CPUs in the kernel.
    pub fn host_system(&self) -> Option<u64> {
        let (first, last) = (self.looks.first()?, self.looks.last()?);
        last.host_system.checked_sub(first.host_system)
    }

    pub fn points(&self) -> Vec<ActivityPoint> {
        let marks: Vec<&HostCounters> = self.looks.iter().step_by(POINT).collect();
        let steps = marks.windows(2).enumerate();
        steps
            .filter_map(|(i, w)| {
                let (a, b) = (w[0], w[1]);
                let total = b.total.checked_sub(a.total).filter(|t| *t > 0)? as f64;
                let share = |a: u64, b: u64| 100.0 * b.saturating_sub(a) as f64 / total;
                let seconds = (b.t_ns - a.t_ns) as f64 * 1e-9;
                Some(ActivityPoint {
                    t_ns: b.t_ns,
                    x_s: ((i + 1) * POINT) as f64 * (EVERY_NS as f64 * 1e-9),
                    user: share(a.user, b.user),
                    system: share(a.system, b.system),
                    idle: share(a.idle, b.idle),
                    rate: b.read.zip(a.read).map(|(b, a)| b.saturating_sub(a) as f64 / seconds),
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of one CPU with 20 % user time up to sample `busy` and 100 % from there on; reading
    /// ends there.
    fn looks(count: u64, busy: u64) -> Vec<HostCounters> {
        let of = |i: u64| HostCounters {
            t_ns: 1_000 + i * EVERY_NS,
            user: 2 * i.min(busy) + 10 * i.saturating_sub(busy),
            system: 0,
            idle: 8 * i.min(busy),
            total: 10 * i,
            host_system: i,
            read: Some(4096 * i.min(busy)),
        };
        (0..count).map(of).collect()
    }

    #[test]
    fn the_first_busy_window_counts_by_its_begin() {
        let all = looks(60, 20);
        let series = ActivitySeries::new(&all, 1_000, u64::MAX);
        assert_eq!(series.time_to_user(1_000_000_000, 0.99), Some(2.0));
        // Half of a slightly earlier window is busy.
        assert_eq!(series.time_to_user(1_000_000_000, 0.6), Some(1.5));
        assert_eq!(series.read_done(), Some(2.0));
        assert_eq!((series.read(), series.host_system()), (Some(81_920), Some(59)));
        // The copies ended before a window was complete.
        let short = ActivitySeries::new(&all, 1_000, 1_000 + 25 * EVERY_NS);
        assert_eq!(short.time_to_user(1_000_000_000, 0.99), None);
        assert_eq!(ActivitySeries::new(&[], 0, 0).time_to_user(1, 0.5), None);
    }

    #[test]
    fn points_are_at_the_same_times_in_each_trial() {
        let all = looks(23, 10);
        let points = ActivitySeries::new(&all, 1_000, u64::MAX).points();
        let xs: Vec<f64> = points.iter().map(|p| p.x_s).collect();
        assert_eq!(xs, [0.5, 1.0, 1.5, 2.0]);
        assert!((points[0].user - 20.0).abs() < 1e-9 && (points[0].idle - 80.0).abs() < 1e-9);
        assert!((points[3].user - 100.0).abs() < 1e-9);
        assert!((points[0].rate.unwrap() - 40_960.0).abs() < 1e-6);
        assert_eq!(points[3].rate, Some(0.0));
    }
}
