//! Histograms of whole numbers: by powers of two like DTrace's `quantize`, and in equal steps like
//! `lquantize`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One row of a histogram: the number of values from `from` up to, but excluding, `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistogramRow {
    /// Smallest value of the row; `null`: everything below the first row.
    pub from: Option<i64>,
    /// Smallest value above the row; `null`: the row has no upper end.
    pub to: Option<i64>,
    /// Number of values in the row.
    pub count: u64,
}

/// Counts by powers of two: buckets for 0, 1, 2 to 3, 4 to 7 and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pow2 {
    counts: [u64; 65],
}

impl Default for Pow2 {
    fn default() -> Self {
        Pow2 { counts: [0; 65] }
    }
}

impl Pow2 {
    /// Returns the bucket of a value: 0 for 0, else 1 + ⌊log₂ value⌋.
    pub fn bucket(value: u64) -> usize {
        (64 - value.leading_zeros()) as usize
    }

    #[inline]
    pub fn add(&mut self, value: u64) {
        self.counts[Pow2::bucket(value)] += 1;
    }

    /// Adds `n` to a bucket, for histograms that were counted elsewhere (in the kernel). Buckets
    /// above 64 count as 64.
    pub fn add_to_bucket(&mut self, bucket: usize, n: u64) {
        self.counts[bucket.min(64)] += n;
    }

    pub fn merge(&mut self, other: &Pow2) {
        for (a, b) in self.counts.iter_mut().zip(&other.counts) {
            *a += b;
        }
    }

    /// Returns the rows from the first to the last non-empty one.
    pub fn rows(&self) -> Vec<HistogramRow> {
        let low =
            |b: usize| if b == 0 { 0 } else { i64::try_from(1u64 << (b - 1)).unwrap_or(i64::MAX) };
        let occupied = |c: &u64| *c > 0;
        let Some(first) = self.counts.iter().position(occupied) else { return Vec::new() };
        let last = self.counts.iter().rposition(occupied).unwrap_or(first);
        (first..=last)
            .map(|b| HistogramRow {
                from: Some(low(b)),
                to: (b < 64).then(|| low(b + 1)),
                count: self.counts[b],
            })
            .collect()
    }
}

/// Reason why a linear histogram is impossible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StepsError {
    #[error("a linear histogram goes up by a step above 0, not from {from} to {to} by {step}")]
    Order { from: i64, to: i64, step: i64 },
    #[error("a linear histogram has at most {MAX_STEPS} rows, not {0}; take a larger step")]
    TooMany(u64),
}

/// Maximum number of rows of a linear histogram.
pub const MAX_STEPS: u64 = 10_000;

/// Rows of a linear histogram: `from` up to, but excluding, `to`, in steps of `step`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Steps {
    from: i64,
    to: i64,
    step: i64,
}

impl Steps {
    /// Checks that the range is not empty and has at most [`MAX_STEPS`] rows.
    pub fn new(from: i64, to: i64, step: i64) -> Result<Self, StepsError> {
        if to <= from || step <= 0 {
            return Err(StepsError::Order { from, to, step });
        }
        let rows = to.abs_diff(from).div_ceil(step.unsigned_abs());
        if rows > MAX_STEPS { Err(StepsError::TooMany(rows)) } else { Ok(Steps { from, to, step }) }
    }

    pub fn from(&self) -> i64 {
        self.from
    }

    pub fn to(&self) -> i64 {
        self.to
    }

    pub fn step(&self) -> i64 {
        self.step
    }
}

/// Counts in equal steps, with one row for values below the range and one for values above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linear {
    steps: Steps,
    below: u64,
    counts: Vec<u64>,
    above: u64,
}

impl Linear {
    pub fn new(steps: Steps) -> Self {
        let rows = steps.to.abs_diff(steps.from).div_ceil(steps.step.unsigned_abs());
        Linear { steps, below: 0, counts: vec![0; rows as usize], above: 0 }
    }

    #[inline]
    pub fn add(&mut self, value: u64) {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        if value < self.steps.from {
            self.below += 1;
        } else if value >= self.steps.to {
            self.above += 1;
        } else {
            let row = value.abs_diff(self.steps.from) / self.steps.step.unsigned_abs();
            self.counts[row as usize] += 1;
        }
    }

    /// Adds the counts of a histogram with the same steps.
    pub fn merge(&mut self, other: &Linear) {
        debug_assert_eq!(self.steps, other.steps);
        self.below += other.below;
        self.above += other.above;
        for (a, b) in self.counts.iter_mut().zip(&other.counts) {
            *a += b;
        }
    }

    /// Returns the rows from the first to the last non-empty one.
    pub fn rows(&self) -> Vec<HistogramRow> {
        let Steps { from, to, step } = self.steps;
        let mut rows = vec![HistogramRow { from: None, to: Some(from), count: self.below }];
        rows.extend(self.counts.iter().enumerate().map(|(i, count)| {
            let low = from.saturating_add(step.saturating_mul(i as i64));
            HistogramRow {
                from: Some(low),
                to: Some(low.saturating_add(step).min(to)),
                count: *count,
            }
        }));
        rows.push(HistogramRow { from: Some(to), to: None, count: self.above });
        let Some(first) = rows.iter().position(|r| r.count > 0) else { return Vec::new() };
        let last = rows.iter().rposition(|r| r.count > 0).unwrap_or(first);
        rows[first..=last].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_as_quantize_counts_them() {
        let mut h = Pow2::default();
        for v in [0, 1, 2, 3, 4, 7, 8, 65_536, 131_071, u64::MAX] {
            h.add(v);
        }
        let rows = h.rows();
        let count = |from| rows.iter().find(|r| r.from == Some(from)).map(|r| r.count);
        assert_eq!(
            (count(0), count(1), count(2), count(4), count(8)),
            (Some(1), Some(1), Some(2), Some(2), Some(1))
        );
        assert_eq!(count(65_536), Some(2));
        assert_eq!(
            rows.last().unwrap(),
            &HistogramRow { from: Some(i64::MAX), to: None, count: 1 }
        );
        assert_eq!(rows.len(), 65, "empty rows in between stay");
        assert!(Pow2::default().rows().is_empty());
    }

    #[test]
    fn equal_steps_with_both_ends_open() {
        let mut h = Linear::new(Steps::new(10, 35, 10).unwrap());
        for v in [0, 9, 10, 19, 20, 34, 35, u64::MAX] {
            h.add(v);
        }
        let rows: Vec<_> = h.rows().iter().map(|r| (r.from, r.to, r.count)).collect();
        assert_eq!(
            rows,
            [
                (None, Some(10), 2),
                (Some(10), Some(20), 2),
                (Some(20), Some(30), 1),
                (Some(30), Some(35), 1),
                (Some(35), None, 2)
            ]
        );
        let mut twice = h.clone();
        twice.merge(&h);
        assert_eq!(twice.rows()[0].count, 4);
    }

    #[test]
    fn steps_that_cannot_be_are_refused() {
        assert!(Steps::new(5, 5, 1).is_err());
        assert!(Steps::new(0, 5, 0).is_err());
        assert!(Steps::new(0, 5, -1).is_err());
        assert_eq!(Steps::new(0, 1_000_000, 1), Err(StepsError::TooMany(1_000_000)));
        assert!(Steps::new(i64::MIN, i64::MAX, i64::MAX).is_ok());
    }
}
