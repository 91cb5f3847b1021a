//! Whether trials drift: one slope over time within the treatments.

use assay_stats::distribution::student_cdf;

use crate::Schedule;

/// The two-sided p-value of the slope of ln(value) over time, with one mean per treatment taken off values
/// and times (a pooled within-treatment regression, df = n - treatments - 1). Values that are missing or not
/// positive are left out; `None` below 6 trials or without spread.
pub(crate) fn trend_p(schedule: &Schedule, treatments: usize) -> Option<f64> {
    let slope = Slope::of(schedule, treatments, |_| true)?;
    p_value(slope.per_s, slope.variance, slope.df)
}

/// The trend of one treatment's trials that those of the others do not share: the factor from its first trial to its
/// last, and the two-sided p-value of the difference between its slope and theirs (Welch, the smaller df).
pub(crate) fn own_trend(
    schedule: &Schedule,
    treatment: usize,
    treatments: usize,
) -> Option<(f64, f64)> {
    let own = Slope::of(schedule, treatments, |t| t == treatment)?;
    let (mut per_s, mut variance, mut df) = (own.per_s, own.variance, own.df);
    if treatments > 1 {
        let others = Slope::of(schedule, treatments, |t| t != treatment)?;
        if own.per_s.abs() <= others.per_s.abs() {
            return None;
        }
        (per_s, variance, df) =
            (per_s - others.per_s, variance + others.variance, df.min(others.df));
    }
    Some(((own.per_s * own.span_s).exp(), p_value(per_s, variance, df)?))
}

/// A slope of ln(value) over time within treatments.
#[derive(Debug, Clone, Copy)]
struct Slope {
    per_s: f64,
    variance: f64,
    df: f64,
    span_s: f64,
}

impl Slope {
    fn of(schedule: &Schedule, treatments: usize, wanted: impl Fn(usize) -> bool) -> Option<Self> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        let (mut span_s, mut means) = (0.0_f64, 0.0);
        for treatment in (0..treatments).filter(|t| wanted(*t)) {
            let of: Vec<(f64, f64)> = schedule
                .trials
                .iter()
                .filter(|t| t.treatment == treatment)
                .filter_map(|t| Some((t.start_s, t.value.filter(|v| *v > 0.0)?.ln())))
                .collect();
            let n = of.len() as f64;
            let (x, y) = of.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
            points.extend(of.iter().map(|p| (p.0 - x, p.1 - y)));
            let ends = of.first().zip(of.last()).map_or(0.0, |(a, b)| b.0 - a.0);
            (span_s, means) = (span_s.max(ends), means + 1.0);
        }
        let df = points.len() as f64 - means - 1.0;
        if points.len() < 6 || df < 1.0 {
            return None;
        }
        let sxx: f64 = points.iter().map(|p| p.0 * p.0).sum();
        let sxy: f64 = points.iter().map(|p| p.0 * p.1).sum();
        let per_s = sxy / sxx;
        let rest: f64 = points.iter().map(|p| (p.1 - per_s * p.0).powi(2)).sum();
        Some(Slope { per_s, variance: rest / df / sxx, df, span_s })
    }
}

fn p_value(slope: f64, variance: f64, df: f64) -> Option<f64> {
    let t = slope / variance.sqrt();
    // No residual at all with a slope: as sure as it gets.
    if t.is_infinite() {
        return Some(0.0);
    }
    (!t.is_nan()).then(|| 2.0 * (1.0 - student_cdf(t.abs(), df)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scheduled;

    fn schedule(value: impl Fn(usize) -> f64) -> Schedule {
        let trial = |i: usize| Scheduled {
            treatment: i / 8,
            start_s: i as f64,
            end_s: i as f64 + 0.5,
            value: Some(value(i)),
        };
        Schedule { trials: (0..16).map(trial).collect(), order: None }
    }

    #[test]
    fn a_drift_is_seen_and_a_step_between_arms_is_none() {
        let wobble = |i: usize| 1.0 + 0.002 * ((i * 7 % 5) as f64 - 2.0);
        assert!(trend_p(&schedule(|i| (1.0 + 0.01 * i as f64) * wobble(i)), 2).unwrap() < 1e-6);
        let step = |i: usize| if i < 8 { wobble(i) } else { 2.0 * wobble(i) };
        assert!(trend_p(&schedule(step), 2).unwrap() > 0.05);
        assert_eq!(trend_p(&schedule(|_| 1.0), 2), None);
        assert_eq!(trend_p(&Schedule::default(), 2), None);
    }

    /// By hand: x = 0..5, y = ln value = 0, 1, 2, 3, 4, 6 in one treatment: slope 1.1429, s² = 0.1190,
    /// t = 1.1429 / sqrt(0.1190 / 17.5) = 13.86 at 4 degrees of freedom, p = 0.0001573.
    #[test]
    fn the_p_value_by_hand() {
        let y = [0.0, 1.0, 2.0, 3.0, 4.0, 6.0_f64];
        let trials = (0..6)
            .map(|i| Scheduled {
                treatment: 0,
                start_s: i as f64,
                end_s: 0.0,
                value: Some(y[i].exp()),
            })
            .collect();
        let p = trend_p(&Schedule { trials, order: None }, 1).unwrap();
        assert!((p - 0.000_157_26).abs() < 1e-7, "{p}");
    }
}
