//! Quantiles: of a sample, how many samples a percentile needs behind it, and the order-statistic
//! interval of the median. Percentiles of latency come from merged histograms elsewhere; they are
//! never averaged.

use assay_model::Interval;

/// Samples that must lie beyond a percentile.
pub const TAIL_SAMPLES: f64 = 10.0;

/// Whether `n_eff` independent samples carry the percentile `p` (0.99 for p99): n_eff · (1 − p) >= 10.
/// False for anything outside 0 <= p < 1.
pub fn supports(n_eff: f64, p: f64) -> bool {
    // 1 − p loses a bit, so that 1000 · (1 − 0.99) would fall short of 10 without the tolerance.
    (0.0..1.0).contains(&p) && n_eff * (1.0 - p) >= TAIL_SAMPLES * (1.0 - 1e-9)
}

/// The highest percentile that `n_eff` independent samples carry, as a fraction; `None` when they
/// carry none (below 10).
pub fn highest_supported(n_eff: f64) -> Option<f64> {
    (n_eff >= TAIL_SAMPLES).then(|| 1.0 - TAIL_SAMPLES / n_eff)
}

/// The `p` quantile of the finite values, linear between order statistics (type 7 of Hyndman and Fan,
/// Am. Stat. 50 (1996) 361); `None` for no values or p outside 0..=1.
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile_sorted(&sorted, p)
}

/// As [`quantile`], of finite values that are already sorted.
pub fn quantile_sorted(sorted: &[f64], p: f64) -> Option<f64> {
    if sorted.is_empty() || !(0.0..=1.0).contains(&p) {
        return None;
    }
    let h = (sorted.len() - 1) as f64 * p;
    let low = sorted[h.floor() as usize];
    let high = sorted[h.ceil() as usize];
    Some(low + (high - low) * h.fract())
}

/// The exact order-statistic interval (X₍ₖ₎, X₍n+1−k₎) of the median of independent finite values: the
/// largest k with 2 · P(Binomial(n, ½) <= k − 1) <= 1 − level. `None` when n cannot carry the level
/// (below 6 at 0.95) or a value is not finite.
pub fn median_interval(values: &[f64], level: f64) -> Option<Interval> {
    let n = values.len();
    if n == 0 || !(0.0..1.0).contains(&level) || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    // ln of the binomial probabilities, so that thousands of values do not underflow.
    let mut ln_p = -(n as f64) * std::f64::consts::LN_2;
    let (mut below, mut k) = (0.0, 0);
    while k < n.div_ceil(2) {
        below += ln_p.exp();
        if 2.0 * below > (1.0 - level) * (1.0 + 1e-12) {
            break;
        }
        k += 1;
        ln_p += ((n - k + 1) as f64 / k as f64).ln();
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    (k > 0).then(|| Interval { low: sorted[k - 1], high: sorted[n - k], level })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_samples_beyond() {
        assert!(supports(1000.0, 0.99) && !supports(999.0, 0.99));
        assert!(supports(100_000.0, 0.9999) && !supports(5000.0, 0.999));
        assert!(!supports(1e9, 1.0) && !supports(f64::NAN, 0.5));
        assert_eq!(highest_supported(9.0), None);
        assert!((highest_supported(1000.0).unwrap() - 0.99).abs() < 1e-12);
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

    /// Ranks of the 95 % interval of the median (David and Nagaraja, Order Statistics, 7.1; the usual
    /// table): n 6 takes 1 and 6, n 10 takes 2 and 9, n 20 takes 6 and 15, n 30 takes 10 and 21.
    #[test]
    fn median_interval_of_the_table() {
        for (n, k) in [(6, 1), (8, 1), (9, 2), (10, 2), (20, 6), (30, 10), (100, 40)] {
            let v: Vec<f64> = (1..=n).map(f64::from).collect();
            let i = median_interval(&v, 0.95).unwrap();
            assert_eq!((i.low, i.high), (f64::from(k), f64::from(n + 1 - k)), "n {n}");
        }
        assert_eq!(median_interval(&[1.0; 5], 0.95), None);
        assert_eq!(median_interval(&[f64::NAN; 9], 0.95), None);
        assert!(median_interval(&vec![1.0; 5000], 0.95).is_some());
    }
}
