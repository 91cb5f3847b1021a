//! Summary of one sample: location, spread and confidence interval.

use assay_model::{Interval, Summary};

use crate::distribution::student_quantile;

/// Returns the arithmetic mean, or `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the sample variance (divided by n − 1) by the two-pass formula, or `None` below two
/// values.
pub fn variance(values: &[f64]) -> Option<f64> {
    let m = mean(values).filter(|_| values.len() >= 2)?;
    let squares: f64 = values.iter().map(|v| (v - m) * (v - m)).sum();
    Some(squares / (values.len() - 1) as f64)
}

/// Returns the median, which is the mean of the middle two for an even number of values, or `None`
/// without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(sorted[n / 2]),
        _ => Some(f64::midpoint(sorted[n / 2 - 1], sorted[n / 2])),
    }
}

/// Returns Student's interval of the mean at `level` (0 to 1, ends excluded): mean ± t · s / √n.
/// Returns `None` below three values, where it would be too wide to be useful.
pub fn mean_interval(values: &[f64], level: f64) -> Option<Interval> {
    if values.len() < 3 || !(0.0..1.0).contains(&level) {
        return None;
    }
    let n = values.len() as f64;
    let half =
        student_quantile(f64::midpoint(1.0, level), n - 1.0) * (variance(values)? / n).sqrt();
    let m = mean(values)?;
    half.is_finite().then_some(Interval { low: m - half, high: m + half, level })
}

/// Returns the logs of values, or `None` if the slice is empty or a value is not positive and
/// finite.
pub fn logs(values: &[f64]) -> Option<Vec<f64>> {
    let ok = !values.is_empty() && values.iter().all(|v| *v > 0.0 && v.is_finite());
    ok.then(|| values.iter().map(|v| v.ln()).collect())
}

/// Converts an interval on the log scale to one of the values; `None` if it overflows.
pub fn exp_interval(log: Interval) -> Option<Interval> {
    let (low, high) = (log.low.exp(), log.high.exp());
    (low.is_finite() && high.is_finite()).then_some(Interval { low, high, level: log.level })
}

/// Summarizes the trials of one treatment in one metric. Values that are not finite are missing:
/// they are left out and not counted. The interval has the level `confidence` (0.95). It is that of
/// the geometric mean, by Student on the logs, if every value is positive; else that of the
/// arithmetic mean, cut at 0 if no value is negative; `None` below three values.
pub fn summarize(values: &[f64], confidence: f64) -> Summary {
    let values: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    let logs = logs(&values);
    let finite = |x: &f64| x.is_finite();
    Summary {
        n: values.len() as u32,
        mean: mean(&values).filter(finite),
        geomean: logs.as_deref().and_then(mean).map(f64::exp).filter(finite),
        median: median(&values).filter(finite),
        min: values.iter().copied().reduce(f64::min),
        max: values.iter().copied().reduce(f64::max),
        stddev: variance(&values).map(f64::sqrt).filter(finite),
        interval: match &logs {
            Some(logs) => mean_interval(logs, confidence).and_then(exp_interval),
            None => mean_interval(&values, confidence).map(|i| {
                let floor = if values.iter().all(|v| *v >= 0.0) { 0.0 } else { f64::NEG_INFINITY };
                Interval { low: i.low.max(floor), ..i }
            }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST/SEMATECH e-Handbook, 1.3.5.2: the ZARR13 heat flow data have n 195, mean 9.261460,
    /// standard deviation 0.022789 and 95 % limits 9.258242 to 9.264679. A sample with exactly that
    /// mean and deviation must give those limits.
    #[test]
    fn interval_of_the_mean_of_the_handbook() {
        let (n, m, s) = (195usize, 9.261460, 0.022789);
        let z: Vec<f64> = (0..n).map(|i| i as f64 - 97.0).collect();
        let scale = s / variance(&z).unwrap().sqrt();
        let sample: Vec<f64> = z.iter().map(|v| m + v * scale).collect();
        let i = mean_interval(&sample, 0.95).unwrap();
        assert!((i.low - 9.258242).abs() < 2e-6 && (i.high - 9.264679).abs() < 2e-6, "{i:?}");
    }

    /// NIST StRD, univariate: NumAcc1 has mean 10000002 and standard deviation 1; NumAcc3
    /// (1000000.2, then 500 pairs of 1000000.1 and 1000000.3) has mean 1000000.2 and standard
    /// deviation 0.1.
    #[test]
    fn certified_values() {
        let acc1 = [10000001.0, 10000003.0, 10000002.0];
        assert_eq!(mean(&acc1), Some(10000002.0));
        assert_eq!(variance(&acc1), Some(1.0));
        let mut acc3 = vec![1000000.2];
        acc3.extend([1000000.1, 1000000.3].repeat(500));
        assert!((mean(&acc3).unwrap() - 1000000.2).abs() < 1e-8);
        assert!((variance(&acc3).unwrap().sqrt() - 0.1).abs() < 1e-8);
    }

    #[test]
    fn summary_of_a_small_sample() {
        let s = summarize(&[1.0, 2.0, 4.0], 0.95);
        assert_eq!((s.n, s.median, s.min, s.max), (3, Some(2.0), Some(1.0), Some(4.0)));
        assert!((s.geomean.unwrap() - 2.0).abs() < 1e-12);
        // Logs 0, ln 2, 2 ln 2: deviation ln 2; half width 4.3027 · ln 2 / √3.
        let half = (4.302653 * 2f64.ln() / 3f64.sqrt()).exp();
        let i = s.interval.unwrap();
        assert!((i.high / 2.0 - half).abs() < 1e-5 && (i.low - 2.0 / half).abs() < 1e-5);
    }

    #[test]
    fn missing_stays_missing() {
        let none = summarize(&[], 0.95);
        assert_eq!((none.n, none.mean, none.interval), (0, None, None));
        let s = summarize(&[1.0, f64::NAN, f64::INFINITY], 0.95);
        assert_eq!((s.n, s.stddev, s.interval), (1, None, None));
        let s = summarize(&[-1.0, 0.0, 1.0], 0.95);
        assert_eq!(s.geomean, None);
        assert!(s.interval.unwrap().contains(0.0));
        assert_eq!(summarize(&[1.0, 2.0, 3.0], 1.0).interval, None);
        assert_eq!(summarize(&[f64::MAX, f64::MAX, f64::MAX], 0.95).mean, None);
    }

    #[test]
    fn no_spread_is_an_interval_without_width() {
        let i = summarize(&[5.0; 4], 0.95).interval.unwrap();
        assert!((i.low - 5.0).abs() < 1e-12 && (i.high - 5.0).abs() < 1e-12);
    }

    proptest::proptest! {
        #[test]
        fn order_does_not_matter_and_scale_carries(
            mut v in proptest::collection::vec(0.1f64..1e3, 3..30), k in 0.01f64..100.0
        ) {
            let a = summarize(&v, 0.95);
            let scaled: Vec<f64> = v.iter().map(|x| x * k).collect();
            let b = summarize(&scaled, 0.95);
            v.reverse();
            let c = summarize(&v, 0.95);
            let (ia, ib, ic) = (a.interval.unwrap(), b.interval.unwrap(), c.interval.unwrap());
            proptest::prop_assert!((ib.low / ia.low / k - 1.0).abs() < 1e-9);
            proptest::prop_assert!((ib.high / ia.high / k - 1.0).abs() < 1e-9);
            proptest::prop_assert!((ic.low / ia.low - 1.0).abs() < 1e-9);
            proptest::prop_assert!(ia.contains(a.geomean.unwrap()));
            proptest::prop_assert_eq!(a.median, c.median);
        }
    }
}
