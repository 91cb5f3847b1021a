//! An estimate with Student's distribution: a difference of means, or a log ratio. Gives its
//! interval, its p, and the smallest difference that it could have detected.

use assay_model::Interval;

use crate::comparison::aa::holm_weighted;
use crate::comparison::power;
use crate::distribution::{student_cdf, student_quantile};
use crate::summary::{mean, variance};

/// An estimate, in the unit of the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Difference between treatment and baseline.
    pub value: f64,
    /// Standard error of the difference; 0 without spread; NaN if n is too small.
    pub se: f64,
    /// Degrees of freedom of the standard error.
    pub df: f64,
}

impl Estimate {
    /// Estimates mean(treatment) − mean(baseline) of independent samples, after Welch (Biometrika
    /// 34 (1947) 28). `variance_of` returns the variance of a sample, or NaN if it has none.
    pub fn welch(baseline: &[f64], treatment: &[f64], variance_of: impl Fn(&[f64]) -> f64) -> Self {
        let n = [baseline.len(), treatment.len()];
        let of_mean = [baseline, treatment].map(|v| variance_of(v) / v.len() as f64);
        Estimate {
            value: mean(treatment).unwrap_or(f64::NAN) - mean(baseline).unwrap_or(f64::NAN),
            se: (of_mean[0] + of_mean[1]).sqrt(),
            df: welch_df(of_mean, n),
        }
    }

    /// Returns the interval value ± t·se at `level`; `None` if a limit is not finite.
    pub fn interval(&self, level: f64) -> Option<Interval> {
        // Without spread the degrees of freedom do not matter (Welch's are 0/0).
        let half = if self.se == 0.0 {
            0.0
        } else {
            student_quantile(f64::midpoint(1.0, level), self.df) * self.se
        };
        let (low, high) = (self.value - half, self.value + half);
        (low.is_finite() && high.is_finite()).then_some(Interval { low, high, level })
    }

    /// Returns the two-sided p of "the value lies within ±limit" (with limit 0: "there is no
    /// difference"). It is for corrections over many comparisons and is never shown alone; it is at
    /// most α if the interval of level 1 − α lies beyond the limit. Returns `None` if n is too
    /// small for a test. Without spread it is 0, or 1 if the value lies within.
    pub fn p_beyond(&self, limit: f64) -> Option<f64> {
        let beyond = self.value.abs() - limit;
        if self.se == 0.0 || beyond <= 0.0 {
            return Some(if beyond > 0.0 { 0.0 } else { 1.0 });
        }
        let p = 2.0 * student_cdf(-beyond / self.se, self.df);
        p.is_finite().then_some(p)
    }

    /// Returns the smallest difference that a test with this standard error detects with
    /// [`power::POWER`]; `None` if it is not finite.
    pub fn detectable(&self, confidence: f64) -> Option<f64> {
        Some(power::in_errors(self.df, confidence, power::POWER) * self.se)
            .filter(|d| d.is_finite())
    }
}

/// Returns the degrees of freedom of the sum of two variances of means: (v₁ + v₂)² / (v₁²/(n₁ − 1)
/// + v₂²/(n₂ − 1)) (Welch, Satterthwaite). NaN if neither varies.
pub fn welch_df(of_mean: [f64; 2], n: [usize; 2]) -> f64 {
    let below = |i: usize| of_mean[i] * of_mean[i] / (n[i] as f64 - 1.0);
    (of_mean[0] + of_mean[1]).powi(2) / (below(0) + below(1))
}

/// Returns the sample variance, but at least `minimum`; NaN below two values.
pub fn variance_at_least(values: &[f64], minimum: f64) -> f64 {
    variance(values).map_or(f64::NAN, |v| v.max(minimum))
}

/// Replaces each p that is present by Holm's adjusted p ([`holm`](crate::comparison::aa::holm)).
pub fn adjust<'a>(ps: impl Iterator<Item = &'a mut Option<f64>>) {
    adjust_weighted(ps.map(|p| (p, 1.0)));
}

/// Replaces each p that is present by Holm's adjusted p with weights ([`holm_weighted`]).
pub fn adjust_weighted<'a>(ps: impl Iterator<Item = (&'a mut Option<f64>, f64)>) {
    let (mut tested, weights): (Vec<&mut f64>, Vec<f64>) =
        ps.filter_map(|(p, weight)| Some((p.as_mut()?, weight))).unzip();
    let p: Vec<f64> = tested.iter().map(|p| **p).collect();
    let Some(adjusted) = holm_weighted(&p, &weights) else { return };
    tested.iter_mut().zip(adjusted).for_each(|(p, adjusted)| **p = adjusted);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_with_a_p_are_adjusted() {
        let mut all = [Some(0.04), None, Some(0.01), Some(0.03)];
        adjust(all.iter_mut());
        assert_eq!(
            all.map(|p| p.map(|p| (p * 100.0).round())),
            [Some(6.0), None, Some(3.0), Some(6.0)]
        );
    }

    #[test]
    fn samples_without_spread_differ_or_do_not() {
        let of = |a: &[f64], b: &[f64]| Estimate::welch(a, b, |v| variance_at_least(v, 0.0));
        let same = of(&[2.0; 3], &[2.0; 3]);
        assert_eq!((same.se, same.p_beyond(0.0)), (0.0, Some(1.0)));
        assert_eq!(of(&[2.0; 3], &[3.0; 3]).p_beyond(0.0), Some(0.0));
        assert_eq!(of(&[2.0; 1], &[3.0; 3]).interval(0.95), None, "one value has no spread");
    }
}
