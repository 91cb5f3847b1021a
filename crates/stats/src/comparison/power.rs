//! Power of a design: the effect it detects with a given power, and the number of pairs that an
//! effect needs. Uses normal theory on the logs, with Student quantiles of the design's own degrees
//! of freedom.

use crate::distribution::student_quantile;

/// The power that [`assay_model::Comparison::detectable`] refers to: 80 of 100 repeats.
pub const POWER: f64 = 0.80;

/// Returns t_{df,1−α/2} + t_{df,power}: the smallest difference that a test with `df` degrees of
/// freedom detects with `power`, in standard errors.
pub(crate) fn in_errors(df: f64, confidence: f64, power: f64) -> f64 {
    student_quantile(f64::midpoint(1.0, confidence), df) + student_quantile(power, df)
}

/// Returns exp((t_{df,1−α/2} + t_{df,power}) · se): the smallest ratio above 1 that a test with
/// standard error `se` of the log ratio and `df` degrees of freedom detects with `power`. It is 1
/// for `se` 0 and `None` if it is not finite.
pub fn detectable(se: f64, df: f64, confidence: f64, power: f64) -> Option<f64> {
    let ratio = (in_errors(df, confidence, power) * se).exp();
    ratio.is_finite().then_some(ratio)
}

/// Returns the detectable ratio of `n` pairs whose log ratios have the standard deviation `sd`;
/// `None` below three pairs.
pub fn detectable_paired(sd: f64, n: usize, confidence: f64, power: f64) -> Option<f64> {
    if n < 3 {
        return None;
    }
    detectable(sd / (n as f64).sqrt(), n as f64 - 1.0, confidence, power)
}

/// Returns the detectable ratio of two independent samples of `n` each whose logs have the standard
/// deviation `sd`: exp((t_{ν,.975} + t_{ν,.80}) · sd · √(2/n)), ν = 2n − 2; `None` below three
/// each.
pub fn detectable_unpaired(sd: f64, n: usize, confidence: f64, power: f64) -> Option<f64> {
    if n < 3 {
        return None;
    }
    detectable(sd * (2.0 / n as f64).sqrt(), 2.0 * n as f64 - 2.0, confidence, power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::ratio::{compare_paired, compare_unpaired};
    use crate::rng::Rng;

    /// 2 % noise, ten each: t(18) .975 is 2.10092 and .80 is 0.86205, so (2.96297) · 0.02 · √0.2.
    #[test]
    fn two_per_cent_noise_and_ten_runs_see_2_7_per_cent() {
        let d = detectable_unpaired(0.02, 10, 0.95, POWER).unwrap();
        assert!((d - (2.96297f64 * 0.02 * 0.2f64.sqrt()).exp()).abs() < 1e-5);
        assert!((d - 1.027).abs() < 5e-4, "{d}");
        let p = detectable_paired(0.02 * 2f64.sqrt(), 10, 0.95, POWER).unwrap();
        assert!(p > d, "fewer degrees of freedom at the same error see less");
    }

    /// Measures how often the interval of a comparison excludes 1 if the true ratio is the
    /// detectable one, in 20,000 simulated runs of `n` blocks of independent trials with 2 % noise.
    #[test]
    fn the_power_holds_in_a_simulation_too() {
        let mut rng = Rng::new(7);
        let (noise, repeats) = (0.02, 20_000);
        for n in [6, 10, 30] {
            let paired = detectable_paired(noise * 2f64.sqrt(), n, 0.95, POWER).unwrap();
            let unpaired = detectable_unpaired(noise, n, 0.95, POWER).unwrap();
            let naive = detectable_paired(noise, n, 0.95, POWER).unwrap();
            let mut found = [0, 0, 0];
            for _ in 0..repeats {
                let mut trials = || (0..n).map(|_| (noise * rng.normal()).exp()).collect();
                let (a, b): (Vec<f64>, Vec<f64>) = (trials(), trials());
                for (found, ratio) in found.iter_mut().zip([paired, unpaired, naive]) {
                    let b: Vec<f64> = b.iter().map(|v| v * ratio).collect();
                    let compared = if ratio == unpaired {
                        compare_unpaired(&a, &b, 0.95)
                    } else {
                        compare_paired(&a, &b, 0.95)
                    };
                    *found += u32::from(compared.unwrap().interval.unwrap().low > 1.0);
                }
            }
            let [paired, unpaired, naive] = found.map(|f| f64::from(f) / f64::from(repeats));
            assert!((0.785..0.825).contains(&paired), "{n} pairs: {paired}");
            assert!((0.785..0.825).contains(&unpaired), "{n} each: {unpaired}");
            assert!(naive < 0.6, "trials' noise taken for a ratio's promises too much: {naive}");
        }
    }

    #[test]
    fn no_answer_is_none() {
        assert_eq!(detectable_paired(0.1, 2, 0.95, POWER), None);
        assert_eq!(detectable_unpaired(f64::NAN, 5, 0.95, POWER), None);
        assert_eq!(detectable(1e9, 2.0, 0.95, POWER), None);
    }
}
