//! Quantiles of a sample, and the number of samples that a percentile needs. Percentiles of latency
//! come from merged histograms elsewhere; they are never averaged.

/// Minimum number of samples beyond a percentile.
pub const TAIL_SAMPLES: f64 = 10.0;

/// True if `n_eff` independent samples support the percentile `p` (0.99 for p99): n_eff · (1 − p)
/// >= 10. False unless 0 <= p < 1.
pub fn supports(n_eff: f64, p: f64) -> bool {
    // 1 − p loses a bit, so without the tolerance 1000 · (1 − 0.99) would fall short of 10.
    (0.0..1.0).contains(&p) && n_eff * (1.0 - p) >= TAIL_SAMPLES * (1.0 - 1e-9)
}

/// Returns the `p` quantile of the finite values, linear between order statistics (type 7 of
/// Hyndman and Fan, Am. Stat. 50 (1996) 361); `None` without values or for p outside 0..=1.
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile_sorted(&sorted, p)
}

/// Returns the same as [`quantile`] for finite values that are already sorted.
pub fn quantile_sorted(sorted: &[f64], p: f64) -> Option<f64> {
    if sorted.is_empty() || !(0.0..=1.0).contains(&p) {
        return None;
    }
    let h = (sorted.len() - 1) as f64 * p;
    let low = sorted[h.floor() as usize];
    let high = sorted[h.ceil() as usize];
    Some(low + (high - low) * h.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_samples_beyond() {
        assert!(supports(1000.0, 0.99) && !supports(999.0, 0.99));
        assert!(supports(100_000.0, 0.9999) && !supports(5000.0, 0.999));
        assert!(!supports(1e9, 1.0) && !supports(f64::NAN, 0.5));
    }

    /// Type 7 of R's `quantile`: of 1..10, 0.25 is 3.25 and 0.9 is 9.1.
    #[test]
    fn quantiles_of_type_seven() {
        let v: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        assert!((quantile(&v, 0.25).unwrap() - 3.25).abs() < 1e-12);
        assert!((quantile(&v, 0.9).unwrap() - 9.1).abs() < 1e-12);
        assert_eq!(quantile(&v, 1.0), Some(10.0));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&v, 1.5), None);
    }
}
