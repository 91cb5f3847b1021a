//! Due times of operations in an open loop. The schedule is independent of the server: an operation
//! that could not be sent when it was due keeps its due time.

use assay_stats::rng::Rng;

use crate::config::Arrivals;

/// Due times of one thread, in ascending order.
#[derive(Debug, Clone)]
pub struct Schedule {
    arrivals: Arrivals,
    /// Time of the first interval's start, in ns.
    start: f64,
    /// Mean interval in ns.
    interval: f64,
    /// Number of operations taken so far; for exponential arrivals the sum of the intervals drawn,
    /// in units of the mean.
    position: f64,
    next: u64,
    rng: Rng,
}

impl Schedule {
    /// Creates the share of thread `index` of `threads` in `rate` operations per second, from
    /// `start_ns` on. Even shares interleave, so that all threads together are even as well.
    pub fn new(
        rate: f64,
        arrivals: Arrivals,
        start_ns: u64,
        (index, threads): (usize, usize),
        seed: u64,
    ) -> Self {
        let interval = 1e9 * threads as f64 / rate;
        let shift = match arrivals {
            Arrivals::Even => interval * index as f64 / threads as f64,
            Arrivals::Exponential => 0.0,
        };
        let rng = Rng::new(seed ^ 0x5C4E_D01E ^ ((index as u64) << 40));
        let start = start_ns as f64 + shift;
        let mut schedule = Schedule { arrivals, start, interval, position: 0.0, next: 0, rng };
        if arrivals == Arrivals::Exponential {
            schedule.position = schedule.rng.exponential();
        }
        schedule.next = schedule.at();
        schedule
    }

    fn at(&self) -> u64 {
        // One product instead of a running sum: no drift, however long the run.
        (self.start + self.position * self.interval) as u64
    }

    /// Returns the due time of the next operation.
    #[inline]
    pub fn peek(&self) -> u64 {
        self.next
    }

    /// Takes the next operation and returns its due time.
    #[inline]
    pub fn take(&mut self) -> u64 {
        let due = self.next;
        self.position += match self.arrivals {
            Arrivals::Even => 1.0,
            Arrivals::Exponential => self.rng.exponential(),
        };
        self.next = self.at();
        due
    }

    /// Returns the approximate number of operations due by `now`; exact for even arrivals.
    #[inline]
    pub fn due_by(&self, now: u64) -> usize {
        if now < self.next { 0 } else { ((now - self.next) as f64 / self.interval) as usize + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_arrivals_of_all_threads_are_even_and_do_not_drift() {
        let mut all: Vec<u64> = (0..4)
            .flat_map(|i| {
                let mut s = Schedule::new(30_000.0, Arrivals::Even, 1_000_000_000, (i, 4), 1);
                (0..30_000).map(move |_| s.take())
            })
            .collect();
        all.sort_unstable();
        for (k, due) in all.iter().enumerate() {
            let want = 1e9 + k as f64 * 1e9 / 30_000.0;
            assert!((*due as f64 - want).abs() < 2.0, "{k}: {due}");
        }
    }

    #[test]
    fn exponential_arrivals_have_the_rate_and_the_spread() {
        let mut s = Schedule::new(1000.0, Arrivals::Exponential, 0, (0, 1), 5);
        let times: Vec<u64> = (0..50_000).map(|_| s.take()).collect();
        let gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let var = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.02, "{mean}");
        assert!((var.sqrt() / mean - 1.0).abs() < 0.03);
    }

    #[test]
    fn counts_what_is_due() {
        let s = Schedule::new(1e6, Arrivals::Even, 5000, (0, 1), 1);
        assert_eq!([s.due_by(4999), s.due_by(5000), s.due_by(5999), s.due_by(6000)], [0, 1, 1, 2]);
    }
}
