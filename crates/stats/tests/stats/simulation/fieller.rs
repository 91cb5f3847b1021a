//! Fieller's interval for the ratio of arithmetic means, for quantities whose totals matter (cost,
//! energy, the time of a batch). Fieller, J. R. Statist. Soc. B 16 (1954) 175.
//!
//! assay does not use it, because its ratios are of geometric means. It is here for comparison.

use assay_model::Interval;

use assay_stats::distribution::student_quantile;
use assay_stats::summary::{mean, variance};

/// The ratio of arithmetic means treatment / baseline and its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioOfMeans {
    /// The ratio mean(treatment) / mean(baseline).
    pub ratio: f64,
    /// Confidence interval of the ratio.
    pub interval: Interval,
}

/// Computes the interval from the variances of the two means, their covariance and the degrees of
/// freedom: with g = t²·v_a/ā², it is [R − g·c/v_a ± (t/ā)·√(v_b − 2Rc + R²v_a − g(v_b − c²/v_a))]
/// / (1 − g).
fn solve(a: f64, b: f64, va: f64, vb: f64, cov: f64, df: f64, level: f64) -> Option<RatioOfMeans> {
    let ratio = b / a;
    let t = student_quantile(f64::midpoint(1.0, level), df);
    let g = t * t * va / (a * a);
    if g.is_nan() || g >= 1.0 || a <= 0.0 {
        return None;
    }
    let slope = if va > 0.0 { cov / va } else { 0.0 };
    let inside = vb - 2.0 * ratio * cov + ratio * ratio * va - g * (vb - slope * cov);
    let half = t / a * inside.max(0.0).sqrt();
    let centre = ratio - g * slope;
    let (low, high) = ((centre - half) / (1.0 - g), (centre + half) / (1.0 - g));
    (low.is_finite() && high.is_finite())
        .then_some(RatioOfMeans { ratio, interval: Interval { low, high, level } })
}

/// Computes the interval for independent samples, with degrees of freedom after Welch and
/// Satterthwaite. Returns `None` below three values in either, if a value is not finite, or if the
/// baseline's mean is not clearly above 0 (g >= 1: then no bounded interval exists and the answer
/// is inconclusive).
pub fn fieller_unpaired(baseline: &[f64], treatment: &[f64], level: f64) -> Option<RatioOfMeans> {
    if baseline.len().min(treatment.len()) < 3 {
        return None;
    }
    let (na, nb) = (baseline.len() as f64, treatment.len() as f64);
    let (va, vb) = (variance(baseline)? / na, variance(treatment)? / nb);
    let (a, b) = (mean(baseline)?, mean(treatment)?);
    // The tested quantity is the difference b − R·a, so R weights the baseline's part.
    let wa = (b / a).powi(2) * va;
    let df = if wa + vb == 0.0 {
        na + nb - 2.0
    } else {
        (wa + vb).powi(2) / (wa * wa / (na - 1.0) + vb * vb / (nb - 1.0))
    };
    solve(a, b, va, vb, 0.0, df, level)
}

/// Computes the interval for pairs, with the covariance term and n − 1 degrees of freedom. Returns
/// `None` in the cases of [`fieller_unpaired`] and if the lengths differ.
pub fn fieller_paired(baseline: &[f64], treatment: &[f64], level: f64) -> Option<RatioOfMeans> {
    let n = baseline.len();
    if n < 3 || treatment.len() != n {
        return None;
    }
    let (a, b) = (mean(baseline)?, mean(treatment)?);
    let products: f64 = baseline.iter().zip(treatment).map(|(x, y)| (x - a) * (y - b)).sum();
    let nf = n as f64;
    let cov = products / (nf - 1.0) / nf;
    solve(a, b, variance(baseline)? / nf, variance(treatment)? / nf, cov, nf - 1.0, level)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limits are by definition the R at which (b − R·a)² = t²(v_b − 2Rc + R²v_a).
    #[test]
    fn limits_solve_the_quadratic() {
        let a = [10.0, 11.0, 9.5, 10.4, 10.1];
        let b = [12.0, 13.1, 11.4, 12.9, 12.2];
        let r = fieller_paired(&a, &b, 0.95).unwrap();
        let t = student_quantile(0.975, 4.0);
        for limit in [r.interval.low, r.interval.high] {
            let d: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - limit * a).collect();
            let z = mean(&d).unwrap() / (variance(&d).unwrap() / 5.0).sqrt();
            assert!((z.abs() - t).abs() < 1e-6, "{z}");
        }
        assert!(r.interval.contains(r.ratio));
        let free = fieller_unpaired(&a, &b, 0.95).unwrap();
        assert!(free.interval.high - free.interval.low > r.interval.high - r.interval.low);
    }

    #[test]
    fn a_baseline_near_zero_has_no_interval() {
        assert_eq!(fieller_unpaired(&[-1.0, 1.0, 0.5, 0.1], &[2.0, 2.1, 2.2, 2.0], 0.95), None);
        assert_eq!(fieller_unpaired(&[1.0, 1.0], &[2.0; 5], 0.95), None);
        assert_eq!(fieller_paired(&[1.0, f64::NAN, 1.0], &[2.0; 3], 0.95), None);
    }

    #[test]
    fn no_spread_is_exact() {
        let r = fieller_unpaired(&[2.0; 3], &[3.0; 3], 0.95).unwrap();
        assert_eq!((r.ratio, r.interval.low, r.interval.high), (1.5, 1.5, 1.5));
    }
}
