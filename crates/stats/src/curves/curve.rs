//! Curves over several trials: merges them point by point, and finds the best point, the smallest
//! that is nearly as good, the smoothness, and interpolated values.

use assay_model::{Better, CurvePoint, Interval};

use crate::curves::roughness::{Noise, noise, row_means, smoothness};
use crate::distribution::{normal_quantile, student_quantile};
use crate::summary::{exp_interval, mean, variance};

/// The curve of one treatment over its trials. The caller adds the names and units that turn it
/// into a `CurveSummary`.
#[derive(Debug, Clone, PartialEq)]
pub struct TreatmentCurve {
    /// Points in ascending order of x.
    pub points: Vec<CurvePoint>,
    /// Best point of the curve; `None` without points or if neither direction is better.
    pub best: Option<CurvePoint>,
    /// Point with the smallest x within 2 % of the best.
    pub efficient: Option<CurvePoint>,
    /// Smoothness, 0 to 1, as defined in [`crate::curves::roughness`].
    pub smoothness: Option<f64>,
}

/// Maximum distance of an efficient point from the best, as a fraction.
pub const NEARLY: f64 = 0.02;

/// Logs of the values at one x, one per trial.
struct CurveSamples {
    x: f64,
    logs: Vec<f64>,
}

/// Collects the values by x. Repeats of one x within a trial are averaged on logs first, so that
/// the trial remains the unit. Points that are not finite, and values that are not positive, are
/// missing.
fn rows<T: AsRef<[[f64; 2]]>>(trials: &[T]) -> Vec<CurveSamples> {
    let mut all: Vec<(f64, usize, f64)> = Vec::new();
    for (trial, points) in trials.iter().enumerate() {
        let good =
            points.as_ref().iter().filter(|[x, v]| x.is_finite() && *v > 0.0 && v.is_finite());
        // Adding 0.0 merges −0.0 and 0.0 into one x.
        all.extend(good.map(|[x, v]| (*x + 0.0, trial, v.ln())));
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    all.chunk_by(|a, b| a.0 == b.0)
        .map(|same_x| {
            let per_trial = same_x.chunk_by(|a, b| a.1 == b.1);
            let average =
                |c: &[(f64, usize, f64)]| c.iter().map(|p| p.2).sum::<f64>() / c.len() as f64;
            CurveSamples { x: same_x[0].0, logs: per_trial.map(average).collect() }
        })
        .collect()
}

fn points_of(rows: &[CurveSamples], trials: usize, confidence: f64) -> Vec<CurvePoint> {
    // One quantile for each possible n: there may be a hundred thousand points.
    let t: Vec<f64> = (0..=trials)
        .map(|n| student_quantile(f64::midpoint(1.0, confidence), n as f64 - 1.0))
        .collect();
    let point = |row: &CurveSamples| {
        let n = row.logs.len();
        let centre = mean(&row.logs)?;
        let half = t[n] * (variance(&row.logs).unwrap_or(f64::NAN) / n as f64).sqrt();
        let ends = Interval { low: centre - half, high: centre + half, level: confidence };
        let carries = n >= 3 && half.is_finite();
        let value = Some(centre.exp()).filter(|v| v.is_finite())?;
        let interval = carries.then(|| exp_interval(ends)).flatten();
        Some(CurvePoint { x: row.x, value, interval, n: n as u32 })
    };
    rows.iter().filter_map(point).collect()
}

/// Maximum number of neighbors on each side, and their maximum factor in x, with which a value is
/// averaged before it is judged.
const NEIGHBOURS: usize = 3;
const NEAR: f64 = 1.25;

/// Returns the value by which each point is judged, on logs. It is the mean of the point and its
/// near neighbors (up to three on each side with x within a factor of 1.25), or the point's own
/// value if it differs from them by more than noise explains (Bonferroni at 5 % over all points).
/// So a lucky point of a fine sweep does not win, but a true spike (a page-sized buffer) does.
/// Without known noise the mean is used.
fn judged(x: &[f64], y: &[f64], noise: Option<&Noise>) -> Vec<f64> {
    let limit = normal_quantile(1.0 - 0.05 / (2.0 * y.len().max(1) as f64));
    let near =
        |i: usize, k: usize| x[i] > 0.0 && x[k] > 0.0 && (x[k] / x[i]).ln().abs() <= NEAR.ln();
    let judge = |i: usize| {
        let start = i.saturating_sub(NEIGHBOURS);
        let end = (i + NEIGHBOURS + 1).min(y.len());
        let others: Vec<f64> =
            (start..end).filter(|k| *k != i && near(i, *k)).map(|k| y[k]).collect();
        let Some(around) = mean(&others) else { return y[i] };
        let k = others.len() as f64;
        let error = noise.map(|n| n.typical.max(n.each[i]) * (1.0 + 1.0 / k).sqrt());
        if error.is_some_and(|e| (y[i] - around).abs() > limit * e) {
            y[i]
        } else {
            (y[i] + k * around) / (k + 1.0)
        }
    };
    (0..y.len()).map(judge).collect()
}

/// Merges the curves of a treatment's trials, each a list of `[x, value]` points in any order. The
/// points are geometric means over the trials, with Student's interval on logs at `confidence` from
/// three trials on.
///
/// The highest of many noisy values is too high by luck (the winner's curse). Therefore `best` is
/// chosen only among the x that every trial has (the largest n there is), each judged together with
/// its near neighbors: by the mean of it and up to three on each side within a factor of 1.25 in x,
/// unless it differs from them by more than noise explains. The reported value is that of the
/// chosen x itself. `efficient` is the smallest x judged within 2 % of the best. Both are `None`
/// for [`Better::Neither`].
///
/// `smoothness` is computed from the x > 0 that every trial has; it is `None` below two trials or
/// seven such points, where texture cannot be separated from noise.
pub fn merge<T: AsRef<[[f64; 2]]>>(
    trials: &[T],
    better: Better,
    confidence: f64,
) -> TreatmentCurve {
    let rows = rows(trials);
    let points = points_of(&rows, trials.len(), confidence);
    let full = rows.iter().map(|r| r.logs.len()).max().unwrap_or(0);
    let whole: Vec<&CurveSamples> = rows.iter().filter(|r| r.logs.len() == full).collect();
    let x: Vec<f64> = whole.iter().map(|r| r.x).collect();
    let logs: Vec<Vec<f64>> = whole.iter().map(|r| r.logs.clone()).collect();
    let y = row_means(&logs);
    let noise = noise(&logs);
    let (best, efficient) = match choose(&x, &judged(&x, &y, noise.as_ref()), better) {
        Some((best, efficient)) => (Some(x[best]), Some(x[efficient])),
        None => (None, None),
    };
    let at_x = |x: f64| points.iter().find(|p| p.x == x).cloned();
    TreatmentCurve {
        best: best.and_then(at_x),
        efficient: efficient.and_then(at_x),
        smoothness: noise.and_then(|n| smooth(&x, &y, n.typical)),
        points,
    }
}

fn smooth(x: &[f64], y: &[f64], error: f64) -> Option<f64> {
    let positive = x.iter().position(|x| *x > 0.0)?;
    let u: Vec<f64> = x[positive..].iter().map(|x| x.ln()).collect();
    smoothness(&u, &y[positive..], error)
}

/// Returns the indices of the best point and of the smallest x within 2 % of it.
fn choose(x: &[f64], judged: &[f64], better: Better) -> Option<(usize, usize)> {
    let (sign, nearly) = match better {
        Better::Higher => (1.0, (1.0 - NEARLY).ln()),
        Better::Lower => (-1.0, -(1.0 + NEARLY).ln()),
        Better::Neither => return None,
    };
    let score: Vec<f64> = judged.iter().map(|y| sign * y).collect();
    // Among equals, choose the first, which has the smaller x.
    let best = (0..x.len()).reduce(|a, b| if score[b] > score[a] { b } else { a })?;
    let efficient = (0..x.len()).find(|i| score[*i] >= score[best] + nearly)?;
    Some((best, efficient))
}
