//! The seeded percentile bootstrap over whole blocks, for statistics that have no formula (a ratio
//! of p99s, a total over a suite). For means below 20 blocks it covers too little, and is refused.
//!
//! assay does not use it, because it has a formula for every interval that it shows. It is here for
//! comparison.

use assay_model::Interval;

use assay_stats::percentile::quantile_sorted;
use assay_stats::rng::Rng;

/// Statistic to bootstrap, which determines the number of blocks needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// A mean or a ratio of means: 20 blocks, because Student on logs is better below.
    Mean,
    /// A statistic with no formula: 5 blocks.
    NoFormula,
}

impl Statistic {
    /// Returns the minimum number of blocks.
    pub fn min_blocks(self) -> usize {
        match self {
            Statistic::Mean => 20,
            Statistic::NoFormula => 5,
        }
    }
}

/// Reason why a bootstrap interval cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BootstrapError {
    /// There are too few blocks.
    #[error(
        "{blocks} blocks are too few for a bootstrap of this statistic; run at least {minimum}"
    )]
    TooFew {
        blocks: usize,
        /// Minimum number of blocks.
        minimum: usize,
    },
    /// The statistic has no finite value on the data, or on more than one resample in a hundred.
    #[error("the statistic has no finite value on {failed} of {of} resamples of the blocks")]
    Undefined {
        /// Number of resamples without a finite value.
        failed: usize,
        /// Number of all resamples.
        of: usize,
    },
    /// The level is outside 0 to 1, or there are fewer than 100 resamples.
    #[error("a bootstrap takes a level between 0 and 1 and at least 100 resamples")]
    Options,
}

/// Options of the bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resampling {
    /// Number of resamples (2000 is usual).
    pub resamples: usize,
    /// Confidence level of the interval.
    pub level: f64,
    /// Seed; the same seed gives the same interval.
    pub seed: u64,
}

/// Computes the percentile interval of `statistic` over `blocks`. A block (a pair, a trial with all
/// its inner samples) is drawn whole with replacement; inner samples are never drawn separately.
///
/// # Errors
/// If there are too few blocks, the statistic has no finite values, or an option is out of range.
pub fn percentile_interval<T>(
    blocks: &[T],
    kind: Statistic,
    resampling: Resampling,
    statistic: impl Fn(&[&T]) -> Option<f64>,
) -> Result<Interval, BootstrapError> {
    let Resampling { resamples, level, seed } = resampling;
    if !(level > 0.0 && level < 1.0) || resamples < 100 {
        return Err(BootstrapError::Options);
    }
    let minimum = kind.min_blocks();
    if blocks.len() < minimum {
        return Err(BootstrapError::TooFew { blocks: blocks.len(), minimum });
    }
    let mut rng = Rng::new(seed);
    let mut drawn: Vec<&T> = Vec::with_capacity(blocks.len());
    let mut values = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        drawn.clear();
        drawn.extend((0..blocks.len()).map(|_| &blocks[rng.below(blocks.len())]));
        values.extend(statistic(&drawn).filter(|v| v.is_finite()));
    }
    let failed = resamples - values.len();
    values.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    match (quantile_sorted(&values, tail), quantile_sorted(&values, 1.0 - tail)) {
        (Some(low), Some(high)) if failed * 100 <= resamples => Ok(Interval { low, high, level }),
        _ => Err(BootstrapError::Undefined { failed, of: resamples }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const R: Resampling = Resampling { resamples: 2000, level: 0.95, seed: 7 };

    fn mean_of(drawn: &[&f64]) -> Option<f64> {
        let sum: f64 = drawn.iter().copied().sum();
        (!drawn.is_empty()).then(|| sum / drawn.len() as f64)
    }

    #[test]
    fn close_to_the_normal_interval_and_reproducible() {
        let mut rng = Rng::new(3);
        let v: Vec<f64> = (0..100).map(|_| 10.0 + rng.normal()).collect();
        let i = percentile_interval(&v, Statistic::Mean, R, mean_of).unwrap();
        let m = v.iter().sum::<f64>() / 100.0;
        let half = 1.96 * assay_stats::summary::variance(&v).unwrap().sqrt() / 10.0;
        assert!((i.low - (m - half)).abs() < 0.03 && (i.high - (m + half)).abs() < 0.03, "{i:?}");
        assert_eq!(i, percentile_interval(&v, Statistic::Mean, R, mean_of).unwrap());
        let other = Resampling { seed: 8, ..R };
        assert_ne!(i, percentile_interval(&v, Statistic::Mean, other, mean_of).unwrap());
    }

    #[test]
    fn refuses_too_few_and_undefined() {
        let v = [1.0; 19];
        let e = percentile_interval(&v, Statistic::Mean, R, mean_of);
        assert_eq!(e, Err(BootstrapError::TooFew { blocks: 19, minimum: 20 }));
        assert!(percentile_interval(&v, Statistic::NoFormula, R, mean_of).is_ok());
        let e = percentile_interval(&v, Statistic::NoFormula, R, |_| Some(f64::NAN));
        assert_eq!(e, Err(BootstrapError::Undefined { failed: 2000, of: 2000 }));
        let e = percentile_interval(&v, Statistic::Mean, Resampling { level: 1.0, ..R }, mean_of);
        assert_eq!(e, Err(BootstrapError::Options));
    }
}
