//! The ratio of two treatments: Student's t on the log ratios of pairs, Welch's t on the logs of
//! two independent samples, each with a sensitivity check by ranks. The estimand is the ratio of
//! geometric means.

use assay_model::{Interval, Method};

use crate::comparison::estimate::Estimate;
use crate::comparison::rank::{shift_interval, walsh_interval};
use crate::summary::{exp_interval, mean, variance};

/// Result of computing a ratio.
pub(crate) type Result<T, E = RatioError> = std::result::Result<T, E>;

/// Reason why a ratio cannot be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RatioError {
    /// One side has no values.
    #[error("there is no value of the {side}; a ratio needs at least one of each")]
    Empty {
        /// Side without values: `baseline` or `treatment`.
        side: &'static str,
    },
    /// The two slices of pairs have different lengths.
    #[error(
        "{baseline} baseline values cannot be paired with {treatment} treatment values; \
             compare them as independent samples"
    )]
    Unpaired {
        /// Number of baseline values.
        baseline: usize,
        /// Number of treatment values.
        treatment: usize,
    },
    /// A value is not positive and has no logarithm.
    #[error("value {index} of the {side} is {value}; a ratio needs positive values")]
    NotPositive {
        /// Side of the value: `baseline` or `treatment`.
        side: &'static str,
        /// Index of the value, from 0.
        index: usize,
        value: f64,
    },
    /// The confidence level is outside 0.5 to 1.
    #[error("a confidence level of {level} cannot be used; give one from 0.5 to 0.999")]
    Level { level: f64 },
}

/// Standard deviation of logs below which they are equal except for rounding.
const ROUNDING: f64 = 1e-12;

/// The ratio treatment / baseline with everything that a verdict needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratio {
    /// Number of pairs, or size of the smaller sample.
    pub n: usize,
    /// Estimate on the log scale.
    pub estimate: Estimate,
    /// Ratio of the geometric means.
    pub ratio: f64,
    /// Either [`Method::PairedT`] or [`Method::Welch`].
    pub method: Method,
    /// Interval at the requested confidence; `None` for n below three.
    pub interval: Option<Interval>,
    /// Interval for the two one-sided tests at 1 − α each, of level 1 − 2α (0.90 for a confidence
    /// of 0.95). Both tests pass if it is within the margin.
    pub two_sided_tests: Option<Interval>,
    /// Either [`Method::SignedRank`] or [`Method::RankSum`].
    pub sensitivity_method: Method,
    /// Interval of the sensitivity check at the requested confidence; `None` below six pairs, or
    /// four values on each side.
    pub sensitivity: Option<Interval>,
    /// Interval of the sensitivity check for the two one-sided tests.
    pub sensitivity_two_sided_tests: Option<Interval>,
    /// Smallest ratio above 1 that this n and noise detect with a power of 80 %.
    pub detectable: Option<f64>,
    /// True if the values showed no spread at all, so that the interval has no width.
    pub no_spread: bool,
}

fn logs_of(values: &[f64], side: &'static str) -> Result<Vec<f64>> {
    if values.is_empty() {
        return Err(RatioError::Empty { side });
    }
    match values.iter().position(|v| !(*v > 0.0 && v.is_finite())) {
        Some(index) => Err(RatioError::NotPositive { side, index, value: values[index] }),
        None => Ok(values.iter().map(|v| v.ln()).collect()),
    }
}

fn check_level(level: f64) -> Result<()> {
    if (0.5..1.0).contains(&level) { Ok(()) } else { Err(RatioError::Level { level }) }
}

/// Returns the variance, or 0 if the logs are equal except for rounding; NaN below two values.
fn spread(logs: &[f64]) -> f64 {
    let v = variance(logs).unwrap_or(f64::NAN);
    if v.sqrt() < ROUNDING { 0.0 } else { v }
}

fn finish(
    n: usize,
    estimate: Estimate,
    confidence: f64,
    (method, sensitivity_method): (Method, Method),
    sensitivity: impl Fn(f64) -> Option<Interval>,
) -> Ratio {
    let equivalence = (2.0 * confidence - 1.0).max(0.0);
    let enough = n >= 3;
    let interval =
        |level| enough.then(|| estimate.interval(level)).flatten().and_then(exp_interval);
    Ratio {
        n,
        estimate,
        ratio: estimate.value.exp(),
        method,
        interval: interval(confidence),
        two_sided_tests: interval(equivalence),
        sensitivity_method,
        sensitivity: sensitivity(confidence),
        sensitivity_two_sided_tests: sensitivity(equivalence),
        detectable: match (enough, estimate.se == 0.0) {
            (false, _) => None,
            (true, true) => Some(1.0),
            (true, false) => {
                estimate.detectable(confidence).map(f64::exp).filter(|ratio| ratio.is_finite())
            }
        },
        no_spread: n >= 2 && estimate.se == 0.0,
    }
}

/// Compares pairs: `baseline[i]` and `treatment[i]` were measured in one block (several runs of one
/// block are averaged beforehand). With d = ln t − ln b, the interval is exp(d̄ ± t_{n−1} · s_d /
/// √n); the sensitivity check is the signed-rank interval of d.
///
/// # Errors
/// If the lengths differ, there are no values, a value is not positive, or the level is outside 0.5
/// to 1.
pub fn compare_paired(baseline: &[f64], treatment: &[f64], confidence: f64) -> Result<Ratio> {
    check_level(confidence)?;
    if baseline.len() != treatment.len() {
        return Err(RatioError::Unpaired { baseline: baseline.len(), treatment: treatment.len() });
    }
    let b = logs_of(baseline, "baseline")?;
    let t = logs_of(treatment, "treatment")?;
    let mut d: Vec<f64> = t.iter().zip(&b).map(|(t, b)| t - b).collect();
    let n = d.len();
    let log = mean(&d).unwrap_or(f64::NAN);
    let v = spread(&d);
    if v == 0.0 {
        d.fill(log);
    }
    let estimate = Estimate { value: log, se: (v / n as f64).sqrt(), df: n as f64 - 1.0 };
    Ok(finish(n, estimate, confidence, (Method::PairedT, Method::SignedRank), |level| {
        walsh_interval(&d, level).and_then(exp_interval)
    }))
}

/// Compares independent samples. With δ = mean ln t − mean ln b, the interval is exp(δ ± t_ν ·
/// √(v_b + v_t)), v = s²/n, ν = (v_b + v_t)² / (v_b²/(n_b − 1) + v_t²/(n_t − 1)) (Welch 1947); the
/// sensitivity check is the Mann-Whitney interval of the shift.
///
/// # Errors
/// If there are no values, a value is not positive, or the level is outside 0.5 to 1.
pub fn compare_unpaired(baseline: &[f64], treatment: &[f64], confidence: f64) -> Result<Ratio> {
    check_level(confidence)?;
    let b = logs_of(baseline, "baseline")?;
    let t = logs_of(treatment, "treatment")?;
    let estimate = Estimate::welch(&b, &t, spread);
    let n = b.len().min(t.len());
    Ok(finish(n, estimate, confidence, (Method::Welch, Method::RankSum), |level| {
        shift_interval(&b, &t, level).and_then(exp_interval)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Student (1908), the sleep data: extra hours by two drugs in ten patients. Paired difference
    /// of means 1.58, t = 4.0621, df 9, p = 0.00283, interval 0.7001 to 2.4599; Welch: t = 1.8608,
    /// df 17.776, p = 0.07939, interval −0.2055 to 3.3655 (as in R's `sleep` and its t.test page).
    /// The test uses exponentials of the hours, whose logs are the hours.
    #[test]
    fn student_sleep_data() {
        let hours1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let hours2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let a = hours1.map(f64::exp);
        let b = hours2.map(f64::exp);
        let paired = compare_paired(&a, &b, 0.95).unwrap();
        assert!((paired.estimate.value - 1.58).abs() < 1e-9);
        assert!((paired.estimate.p_beyond(0.0).unwrap() - 0.002833).abs() < 1e-6);
        let i = paired.interval.unwrap();
        assert!((i.low.ln() - 0.7001142).abs() < 1e-6 && (i.high.ln() - 2.4598858).abs() < 1e-6);
        // At the limit of the interval, p is one minus its level.
        assert!((paired.estimate.p_beyond(i.low.ln()).unwrap() - 0.05).abs() < 1e-9);
        assert_eq!(paired.estimate.p_beyond(10f64.ln()), Some(1.0));
        let welch = compare_unpaired(&a, &b, 0.95).unwrap();
        assert!((welch.estimate.df - 17.77647).abs() < 1e-4);
        assert!((welch.estimate.p_beyond(0.0).unwrap() - 0.07939414).abs() < 1e-7);
        let i = welch.interval.unwrap();
        assert!((i.low.ln() + 0.2054832).abs() < 1e-6 && (i.high.ln() - 3.3654832).abs() < 1e-6);
    }

    #[test]
    fn too_few_have_a_ratio_but_no_interval() {
        let r = compare_paired(&[1.0, 1.0], &[2.0, 2.1], 0.95).unwrap();
        assert!((r.ratio - 4.2f64.sqrt()).abs() < 1e-12);
        assert_eq!((r.interval, r.sensitivity, r.detectable), (None, None, None));
        let one = compare_unpaired(&[1.0], &[3.0], 0.95).unwrap();
        assert!((one.ratio - 3.0).abs() < 1e-12 && one.interval.is_none() && !one.no_spread);
    }

    #[test]
    fn no_spread_gives_an_interval_without_width() {
        let a = [1.0, 10.0, 3.0, 7.0, 11.0, 13.0];
        let b = a.map(|x| x * 1.1);
        let r = compare_paired(&a, &b, 0.95).unwrap();
        assert!(r.no_spread);
        let i = r.interval.unwrap();
        assert_eq!(i.low, i.high);
        assert!((i.low - 1.1).abs() < 1e-12);
        assert_eq!(r.detectable, Some(1.0));
        let same = compare_unpaired(&[5.0; 4], &[5.0; 4], 0.95).unwrap();
        assert!(same.no_spread && same.interval.unwrap().contains(1.0));
        assert_eq!(same.estimate.p_beyond(0.0), Some(1.0));
    }

    #[test]
    fn refuses_what_has_no_ratio() {
        assert!(matches!(compare_paired(&[], &[], 0.95), Err(RatioError::Empty { .. })));
        assert!(matches!(
            compare_paired(&[1.0], &[1.0, 2.0], 0.95),
            Err(RatioError::Unpaired { baseline: 1, treatment: 2 })
        ));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let r = compare_unpaired(&[1.0, bad], &[1.0], 0.95);
            assert!(matches!(r, Err(RatioError::NotPositive { index: 1, .. })));
        }
        assert!(matches!(compare_paired(&[1.0], &[1.0], 1.0), Err(RatioError::Level { .. })));
    }

    fn inverse(a: Interval, b: Interval) -> bool {
        (a.low * b.high - 1.0).abs() < 1e-8 && (a.high * b.low - 1.0).abs() < 1e-8
    }

    proptest! {
        #[test]
        fn swapping_the_sides_inverts_everything(
            pairs in proptest::collection::vec((0.5f64..2.0, 0.5f64..2.0), 6..25)
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            for f in [compare_paired, compare_unpaired] {
                let ab = f(&a, &b, 0.95).unwrap();
                let ba = f(&b, &a, 0.95).unwrap();
                prop_assert!((ab.ratio * ba.ratio - 1.0).abs() < 1e-9);
                prop_assert!(inverse(ab.interval.unwrap(), ba.interval.unwrap()));
                prop_assert!(inverse(ab.sensitivity.unwrap(), ba.sensitivity.unwrap()));
                prop_assert!((ab.detectable.unwrap() - ba.detectable.unwrap()).abs() < 1e-9);
            }
        }

        #[test]
        fn the_unit_of_the_metric_does_not_matter(
            pairs in proptest::collection::vec((0.5f64..2.0, 0.5f64..2.0), 6..25), k in 1e-6f64..1e6
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let scaled = |v: &[f64]| v.iter().map(|x| x * k).collect::<Vec<f64>>();
            let one = compare_paired(&a, &b, 0.95).unwrap();
            let two = compare_paired(&scaled(&a), &scaled(&b), 0.95).unwrap();
            let (i, j) = (one.interval.unwrap(), two.interval.unwrap());
            prop_assert!((i.low / j.low - 1.0).abs() < 1e-8
                && (i.high / j.high - 1.0).abs() < 1e-8);
            prop_assert!(i.low <= one.ratio && one.ratio <= i.high);
        }
    }
}
