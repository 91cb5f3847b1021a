//! Log-linear histogram for percentiles, with 32 buckets per power of two as in HdrHistogram
//! (Tene), so that a value read back is within 1.6 % of the value counted. Memory grows only up to
//! the bucket of the largest value.

/// Binary logarithm of the number of buckets per power of two.
const BITS: u32 = 5;
const SUB: u64 = 1 << BITS;

/// Histogram of values from 0 to 2^64 − 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLinear {
    /// Counts by bucket, up to the last non-empty one.
    counts: Vec<u64>,
    sum: u128,
    minimum: u64,
    maximum: u64,
}

impl Default for LogLinear {
    fn default() -> Self {
        LogLinear { counts: Vec::new(), sum: 0, minimum: u64::MAX, maximum: 0 }
    }
}

/// Returns the bucket of a value. Small values have a bucket each. For larger ones the index is the
/// top BITS + 1 bits, of which the first is always set, offset by the buckets of all smaller powers
/// of two.
#[inline]
pub(crate) fn bucket(value: u64) -> usize {
    let shift = (value | SUB).ilog2() - BITS;
    ((u64::from(shift) << BITS) + (value >> shift)) as usize
}

/// Returns the smallest value of a bucket and the number of values it spans.
fn span(bucket: usize) -> (u64, u64) {
    let b = bucket as u64;
    if b < 2 * SUB {
        return (b, 1);
    }
    let shift = (b >> BITS) - 1;
    ((SUB + (b & (SUB - 1))) << shift, 1 << shift)
}

/// Counts alone do not give exact values, so a counter outside this crate must also keep the sum,
/// the minimum and the maximum.
impl LogLinear {
    /// Number of buckets for all values.
    pub const BUCKETS: u32 = 1920;

    /// Creates a histogram from values that were counted elsewhere in the same buckets.
    pub fn of_counts(counts: &[u64], sum: u128, minimum: u64, maximum: u64) -> Self {
        let used = counts.iter().rposition(|c| *c > 0).map_or(0, |i| i + 1);
        if used == 0 {
            return LogLinear::default();
        }
        LogLinear { counts: counts[..used].to_vec(), sum, minimum, maximum }
    }

    /// Calls `f` with the smallest value and the count of each non-empty bucket.
    pub fn each(&self, mut f: impl FnMut(u64, u64)) {
        for (at, n) in self.counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            f(span(at).0, *n);
        }
    }

    pub fn sum(&self) -> u128 {
        self.sum
    }

    #[inline]
    pub fn add(&mut self, value: u64) {
        self.add_in(bucket(value), value);
    }

    /// Counts a value whose bucket is known.
    #[inline]
    pub(crate) fn add_in(&mut self, bucket: usize, value: u64) {
        match self.counts.get_mut(bucket) {
            Some(count) => *count += 1,
            None => self.begin(bucket),
        }
        self.minimum = self.minimum.min(value);
        self.maximum = self.maximum.max(value);
        self.sum += u128::from(value);
    }

    /// Counts the first value in a bucket above all buckets so far.
    #[cold]
    fn begin(&mut self, bucket: usize) {
        self.counts.resize(bucket + 1, 0);
        self.counts[bucket] = 1;
    }

    pub fn merge(&mut self, other: &LogLinear) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (a, b) in self.counts.iter_mut().zip(&other.counts) {
            *a += b;
        }
        self.minimum = self.minimum.min(other.minimum);
        self.maximum = self.maximum.max(other.maximum);
        self.sum += other.sum;
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns the exact mean, or `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum as f64 / self.count() as f64)
    }

    /// Returns the exact minimum, or `None` without values.
    pub fn min(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.minimum)
    }

    /// Returns the exact maximum, or `None` without values.
    pub fn max(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.maximum)
    }

    /// Returns the percentile `p` (0 to 1): the middle of its bucket, limited to the range of the
    /// values counted. Returns `None` unless ten values lie beyond it (see
    /// [`assay_stats::percentile::supports`]).
    pub fn percentile(&self, p: f64) -> Option<f64> {
        let n = self.count();
        if !assay_stats::percentile::supports(n as f64, p) {
            return None;
        }
        // The tolerance keeps 0.99 · 100 from becoming rank 100.
        let rank = ((p * n as f64 - 1e-6).ceil().max(1.0)) as u64;
        let mut below = 0;
        let at = self.counts.iter().position(|c| {
            below += c;
            below >= rank
        })?;
        let (low, width) = span(at);
        let middle = low as f64 + (width - 1) as f64 / 2.0;
        Some(middle.clamp(self.minimum as f64, self.maximum as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_join_without_gap_and_hold_their_values() {
        let mut next = 0u64;
        for b in 0..bucket(u64::MAX) {
            let (low, width) = span(b);
            assert_eq!(low, next, "bucket {b}");
            assert_eq!((bucket(low), bucket(low + width - 1)), (b, b));
            next = low + width;
        }
        assert_eq!(bucket(u64::MAX) + 1, LogLinear::BUCKETS as usize);
    }

    #[test]
    fn percentiles_are_within_the_width_of_a_bucket() {
        let mut rng = assay_stats::rng::Rng::new(7);
        let mut h = LogLinear::default();
        let mut values: Vec<u64> =
            (0..20_000).map(|_| (rng.exponential() * 250_000.0) as u64).collect();
        for v in &values {
            h.add(*v);
        }
        values.sort_unstable();
        for p in [0.01, 0.5, 0.9, 0.99, 0.999] {
            let exact = values[(p * values.len() as f64).ceil() as usize - 1] as f64;
            let got = h.percentile(p).unwrap();
            assert!((got / exact - 1.0).abs() <= 1.0 / 64.0 + 1e-3, "p{p}: {got} for {exact}");
        }
        assert_eq!(h.percentile(0.9999), None, "two values beyond are too few");
        assert_eq!((h.min(), h.max()), (Some(values[0]), values.last().copied()));
        let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
        assert!((h.mean().unwrap() - mean).abs() < 1e-6);
    }

    #[test]
    fn merged_is_as_counted_together() {
        let (mut a, mut b, mut both) =
            (LogLinear::default(), LogLinear::default(), LogLinear::default());
        for v in [3, 900, 70_000] {
            a.add(v);
            both.add(v);
        }
        for v in [1, u64::MAX] {
            b.add(v);
            both.add(v);
        }
        a.merge(&b);
        assert_eq!(a, both);
        a.merge(&LogLinear::default());
        assert_eq!(a, both);
        assert_eq!(LogLinear::default().mean(), None);
    }
}
