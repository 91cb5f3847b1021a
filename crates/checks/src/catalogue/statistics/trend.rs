//! Tests for drift: one slope over time within the treatments.

use assay_stats::distribution::student_cdf;

use crate::Schedule;

/// Returns the two-sided p-value of the slope of ln(value) over time, with one mean per treatment
/// subtracted from values and times (a pooled within-treatment regression, df = n - treatments -
/// 1). Missing and non-positive values are left out; `None` below 6 trials or without spread.
pub(super) fn trend_p(schedule: &Schedule, treatments: usize) -> Option<f64> {
    let sums = total(sums_and_spans(schedule, treatments).into_iter().map(|e| e.0));
    let (per_s, variance, df) = slope(sums)?;
    p_value(per_s, variance, df)
}

/// Returns each treatment's own trend, which the other treatments do not share: the factor from its
/// first trial to its last, and the two-sided p-value of the difference between its slope and that
/// of the others (Welch, the smaller df).
pub(super) fn own_trends(schedule: &Schedule, treatments: usize) -> Vec<Option<(f64, f64)>> {
    let each = sums_and_spans(schedule, treatments);
    let all = total(each.iter().map(|e| e.0));
    let trend = |(sums, span_s): &(RegressionSums, f64)| {
        let (own, variance, df) = slope(*sums)?;
        if treatments == 1 {
            return Some(((own * span_s).exp(), p_value(own, variance, df)?));
        }
        let (others, theirs, their_df) = slope(std::array::from_fn(|i| all[i] - sums[i]))?;
        let p = p_value(own - others, variance + theirs, df.min(their_df))?;
        (own.abs() > others.abs()).then(|| ((own * span_s).exp(), p))
    };
    each.iter().map(trend).collect()
}

/// Number of values, number of treatments, and the sums of xx, xy and yy: times x and ln(values) y
/// about the means of their treatment.
type RegressionSums = [f64; 5];

/// Returns the sums of each treatment and the time from its first trial to its last in seconds, in
/// one pass over the trials.
fn sums_and_spans(schedule: &Schedule, treatments: usize) -> Vec<(RegressionSums, f64)> {
    let mut points: Vec<Vec<(f64, f64)>> = vec![Vec::new(); treatments];
    for trial in &schedule.trials {
        let value = trial.value.filter(|v| *v > 0.0);
        if let (Some(of), Some(v)) = (points.get_mut(trial.treatment), value) {
            of.push((trial.start_s, v.ln()));
        }
    }
    let sums = |of: &Vec<(f64, f64)>| {
        let n = of.len() as f64;
        let (x, y) = of.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
        let span_s = of.first().zip(of.last()).map_or(0.0, |(a, b)| b.0 - a.0);
        let squares =
            of.iter().map(|p| (p.0 - x, p.1 - y)).map(|(x, y)| [0.0, 0.0, x * x, x * y, y * y]);
        (total(std::iter::once([n, 1.0, 0.0, 0.0, 0.0]).chain(squares)), span_s)
    };
    points.iter().map(sums).collect()
}

fn total(all: impl Iterator<Item = RegressionSums>) -> RegressionSums {
    all.fold([0.0; 5], |so_far, one| std::array::from_fn(|i| so_far[i] + one[i]))
}

/// Returns the slope per second, its variance and its degrees of freedom.
fn slope([n, treatments, xx, xy, yy]: RegressionSums) -> Option<(f64, f64, f64)> {
    let (per_s, df) = (xy / xx, n - treatments - 1.0);
    (n >= 6.0 && df >= 1.0).then(|| (per_s, (yy - per_s * xy).max(0.0) / df / xx, df))
}

fn p_value(slope: f64, variance: f64, df: f64) -> Option<f64> {
    let t = slope / variance.sqrt();
    // A slope without any residual: p is 0.
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

    /// Computed by hand: x = 0..5, y = ln value = 0, 1, 2, 3, 4, 6 in one treatment: slope 1.1429,
    /// s² = 0.1190, t = 1.1429 / sqrt(0.1190 / 17.5) = 13.86 at 4 degrees of freedom, p =
    /// 0.0001573.
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
