//! Outliers are flagged, so that somebody looks for the cause; they are never dropped.

use crate::distribution::{student_cdf, student_quantile};
use crate::summary::{mean, variance};

/// Factor that turns the median absolute deviation of a normal sample into its standard deviation:
/// 1 / Φ⁻¹(3/4).
pub const MAD_TO_SIGMA: f64 = 1.4826;
/// A value compared with the others of a small group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AmongOthers {
    /// Value minus the mean of the others.
    pub difference: f64,
    /// Limit that the difference stays within with probability 0.95 if the value is one of them.
    pub expected: f64,
    /// p-value of the hypothesis that it is one of them.
    pub p: f64,
}

/// Compares each value with the others as one more value of a normal distribution with their mean
/// and variance: the externally studentized residual (Cook and Weisberg, Residuals and Influence in
/// Regression, 1982, 2.2), which has n − 2 degrees of freedom. Returns `None` for fewer than four
/// values, or if one is not finite.
pub fn among_others(values: &[f64]) -> Option<Vec<AmongOthers>> {
    let n = values.len();
    if n < 4 || !values.iter().all(|v| v.is_finite()) {
        return None;
    }
    let one = |(i, value): (usize, &f64)| {
        let others: Vec<f64> = [&values[..i], &values[i + 1..]].concat();
        let error = (variance(&others)? * (1.0 + 1.0 / others.len() as f64)).sqrt();
        let (difference, df) = (value - mean(&others)?, n as f64 - 2.0);
        let p = match (error > 0.0, difference == 0.0) {
            (true, _) => 2.0 * student_cdf(-(difference / error).abs(), df),
            (false, same) => f64::from(u8::from(same)),
        };
        Some(AmongOthers { difference, expected: student_quantile(0.975, df) * error, p })
    };
    values.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_four_is_compared_with_the_other_three() {
        let all = among_others(&[1.0, 2.0, 3.0, 10.0]).unwrap();
        // The others have mean 2 and variance 1: t = 8 / √(4/3), and 4.303 · √(4/3) is expected.
        assert!((all[3].difference - 8.0).abs() < 1e-12);
        assert!((all[3].expected - 4.968).abs() < 1e-3, "{:?}", all[3]);
        assert!((all[3].p - 0.0202).abs() < 1e-3, "{:?}", all[3]);
        assert!(among_others(&[1.0, 2.0, 3.0]).is_none());
        assert_eq!(among_others(&[1.0; 4]).unwrap()[0].p, 1.0);
        assert_eq!(among_others(&[1.0, 1.0, 1.0, 2.0]).unwrap()[3].p, 0.0);
    }

    #[test]
    fn alike_values_are_rarely_taken_for_strangers() {
        let mut rng = crate::rng::Rng::new(7);
        let found = (0..4000).filter(|_| {
            let values: Vec<f64> = (0..5).map(|_| rng.normal()).collect();
            let p: Vec<f64> = among_others(&values).unwrap().iter().map(|a| a.p).collect();
            crate::comparison::aa::holm(&p).unwrap().iter().any(|p| *p <= 0.05)
        });
        let share = found.count() as f64 / 4000.0;
        assert!((0.02..0.065).contains(&share), "{share}");
    }
}
