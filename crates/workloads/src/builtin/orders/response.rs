//! Response times of a point at a rate, counted from the time at which each request was due.

use assay_loadgen::latency::heat::Heat;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::driver::response_times::quantile;

/// Buckets for each power of two in the kit's histograms, as powers of two themselves: of the
/// measurement, and of a column of the series over time.
const TIMES_BITS: u32 = 7;
const COLUMN_BITS: u32 = 4;
/// Longest time that is recorded in ns; longer ones are recorded as this.
const MAX_NS: u64 = 1_000_000_000_000;

/// Requests of an instance in a point at a rate. Requests that were due in the measurement count,
/// wherever they ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct InstanceResponses {
    /// Requests that were due.
    pub offered: u64,
    /// Requests that found the queue of their warehouse full.
    pub refused: u64,
    /// Requests in the queue at the end of the ramp-down.
    pub unanswered: u64,
    /// Requests that fell due while their thread slept, and were seen more than 1 ms later.
    pub late: u64,
    /// Longest response time, ns.
    pub max_ns: u64,
    /// Pairs of a bucket and its count.
    pub times: Vec<u64>,
    /// Triples of a column of the series, a bucket, and its count; ramps included.
    #[serde(skip_serializing)]
    pub columns: Vec<u64>,
    /// Longest response time of each column, ns.
    #[serde(skip_serializing)]
    pub longest: Vec<u64>,
}

impl InstanceResponses {
    /// Returns the number of answered requests.
    pub fn answered(&self) -> u64 {
        self.times.chunks_exact(2).map(|pair| pair[1]).sum()
    }
}

/// Requests of all instances in a point at a rate.
#[derive(Debug)]
pub struct Responses {
    pub offered: u64,
    pub refused: u64,
    /// Requests without an answer: refused, or in a queue at the end.
    pub unanswered: u64,
    pub late: u64,
    /// Longest response time, ns.
    pub max_ns: u64,
    /// Response times of the answered requests, ns.
    pub times: Histogram<u64>,
    /// Response times and the longest of them by column, ns.
    pub columns: Vec<(Histogram<u64>, u64)>,
}

impl Responses {
    /// Adds up the instances.
    pub fn merge<'a>(instances: impl Iterator<Item = &'a InstanceResponses> + Clone) -> Self {
        let sum = |of: fn(&InstanceResponses) -> u64| instances.clone().map(of).sum::<u64>();
        let columns = instances.clone().map(|i| i.longest.len()).max().unwrap_or(0);
        let mut all = Responses {
            offered: sum(|i| i.offered),
            refused: sum(|i| i.refused),
            unanswered: sum(|i| i.refused + i.unanswered),
            late: sum(|i| i.late),
            max_ns: instances.clone().map(|i| i.max_ns).max().unwrap_or(0),
            times: histogram(3),
            columns: vec![(histogram(2), 0); columns],
        };
        for instance in instances {
            for pair in instance.times.chunks_exact(2) {
                all.times.saturating_record_n(middle(pair[0], TIMES_BITS), pair[1]);
            }
            for cell in instance.columns.chunks_exact(3) {
                if let Some((times, _)) = all.columns.get_mut(cell[0] as usize) {
                    times.saturating_record_n(middle(cell[1], COLUMN_BITS), cell[2]);
                }
            }
            for ((_, longest), own) in all.columns.iter_mut().zip(&instance.longest) {
                *longest = (*longest).max(*own);
            }
        }
        all
    }

    /// Returns a quantile in seconds. `None` if fewer than ten requests lie beyond it, or if it
    /// falls among those without an answer.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        quantile(&self.times, self.unanswered, q)
    }

    /// Returns the counts of the columns for a heat map.
    pub fn heat(&self) -> Heat {
        let mut heat = Heat::new(self.columns.len());
        for (i, (times, _)) in self.columns.iter().enumerate() {
            heat.at(i);
            let cells = times.iter_recorded();
            cells.for_each(|c| heat.count(c.value_iterated_to(), c.count_since_last_iteration()));
        }
        heat
    }
}

fn histogram(digits: u8) -> Histogram<u64> {
    Histogram::new_with_bounds(1, MAX_NS, digits).expect("1 to 10^12 is a valid range")
}

/// Returns the middle of a bucket of the kit's `Histogram` in ns. Buckets below 2^(bits + 1) are
/// 1 ns wide; from there on every power of two has 2^bits of them.
fn middle(bucket: u64, bits: u32) -> u64 {
    let shift = (bucket >> bits).saturating_sub(1).min(63 - u64::from(bits));
    let low = (bucket - (shift << bits)) << shift;
    (low + ((1 << shift) >> 1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kit's test has the same arithmetic in the other direction.
    #[test]
    fn buckets_have_their_middle() {
        assert_eq!([0, 1, 255].map(|b| middle(b, 7)), [1, 1, 255]);
        assert_eq!([256, 257, 383, 384].map(|b| middle(b, 7)), [257, 259, 511, 514]);
        assert_eq!(middle((34 << 7) - 1, 7), (1 << 40) - (1 << 31));
    }

    #[test]
    fn instances_add_up_and_the_unanswered_are_the_longest() {
        let one = InstanceResponses {
            offered: 1000,
            refused: 4,
            unanswered: 1,
            late: 2,
            max_ns: 700,
            times: vec![100, 985, 300, 10],
            columns: vec![0, 20, 5, 1, 40, 9],
            longest: vec![20, 700],
        };
        let both = Responses::merge([&one, &one].into_iter());
        assert_eq!((both.offered, both.refused, both.unanswered), (2000, 8, 10));
        assert_eq!(both.times.len() + both.unanswered, both.offered);
        assert_eq!(one.answered() + one.refused + one.unanswered, one.offered);
        let near = |got: Option<f64>, ns: f64| (got.unwrap() / (ns * 1e-9) - 1.0).abs() < 0.01;
        assert!(near(both.quantile(0.5), 100.0));
        assert!(near(both.quantile(0.99), middle(300, 7) as f64));
        assert_eq!(both.quantile(0.999), None, "2 of 2000 lie beyond it");
        assert_eq!(both.columns.iter().map(|c| c.0.len()).collect::<Vec<_>>(), [10, 18]);
        assert_eq!(both.columns[1].1, 700);
        let counts: Vec<u64> = both.heat().columns().iter().map(|c| c.iter().sum()).collect();
        assert_eq!(counts, [10, 18]);
    }
}
