//! The throughput curve between the visited sizes: predicts the throughput of a size that was not
//! visited, with an interval.
//!
//! The time of a call grows roughly as `a + b * size`, bends where a cache is full, and copying
//! from or to an unaligned address can take longer. Hence:
//!
//! 1. Each visited size gives a time per call, `t = size / throughput`. Trials differ by a factor
//!    that is the same at every size (the machine is faster or slower for a while): with `m(x)` the
//!    median of `ln t(x)` over the trials, the level of a trial is the median of `ln t(x) - m(x)`
//!    over the sizes that all trials visited. It is subtracted if there are at least five such
//!    sizes.
//! 2. Sizes fall into classes by the largest of 4096, 512 and 64 that divides them, or none of
//!    them. The class with the most sizes is the base: in a byte-by-byte sweep, the sizes that none
//!    of these divides, which are nearly all sizes.
//! 3. At a size `s`, a line `a + b (x - s)` is fitted through the base sizes nearest to `s` by
//!    ratio: one in 25 of them, but at least 15 and at most 41. Their weights are tricube by
//!    distance, times `n / t^2` because errors are relative and shrink with the number `n` of
//!    trials, with three rounds of bisquare weights against outliers (Cleveland, "Robust locally
//!    weighted regression", JASA 74, 1979). `a` is the time per call.
//! 4. For another class, the median of `ln t - ln a` over its nine nearest sizes is added to `ln a`
//!    if it is more than two of its standard errors from 0; otherwise the class shows no
//!    difference.
//! 5. The interval extends two standard errors of `a` (from the weights and the residuals) to each
//!    side.

use assay_stats::summary::median;

/// Predicted throughput of a size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Throughput in bytes per second.
    pub value: f64,
    /// Lower end of the interval of about 95 %.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

const NEAREST_OF_CLASS: usize = 9;
const COMMON_SIZES: usize = 5;
const CLASSES: [u64; 3] = [4096, 512, 64];

/// A visited size and its time per call.
#[derive(Debug, Clone, Copy)]
struct Visit {
    size: f64,
    /// Natural logarithm of the seconds per call.
    log_time: f64,
    trials: f64,
}

/// The visited sizes and the curve through them.
#[derive(Debug, Clone)]
pub struct CurveModel {
    base: Vec<Visit>,
    base_class: usize,
    /// Pairs (size, offset from the base) by class; empty for the base class.
    others: Vec<Vec<(f64, f64)>>,
    visited: Vec<u64>,
}

fn class_of(size: f64) -> usize {
    CLASSES.iter().position(|c| (size as u64).is_multiple_of(*c)).unwrap_or(CLASSES.len())
}

impl CurveModel {
    /// Fits the curve to the points of one or more trials, `[bytes, bytes per second]` in any
    /// order. Ignores points that are not positive and finite.
    pub fn fit(trials: &[Vec<[f64; 2]>]) -> Self {
        let visits = merge(trials);
        let mut counts = [0usize; CLASSES.len() + 1];
        for visit in &visits {
            counts[class_of(visit.size)] += 1;
        }
        let base_class = (0..counts.len()).max_by_key(|&c| counts[c]).unwrap_or(CLASSES.len());
        let of = |class| visits.iter().filter(move |v| class_of(v.size) == class);
        let mut model = CurveModel {
            base: of(base_class).copied().collect(),
            base_class,
            others: vec![Vec::new(); counts.len()],
            visited: visits.iter().map(|v| v.size as u64).collect(),
        };
        for class in (0..counts.len()).filter(|c| *c != base_class) {
            model.others[class] = of(class)
                .filter_map(|v| Some((v.size, v.log_time - model.base_line(v.size)?.0)))
                .collect();
        }
        model
    }

    /// Returns the visited sizes in ascending order.
    pub fn visited(&self) -> &[u64] {
        &self.visited
    }

    /// Predicts the throughput at `size`, or returns `None` if no size was visited.
    pub fn predict(&self, size: u64) -> Option<Prediction> {
        let x = size as f64;
        let (line, error) = self.base_line(x)?;
        let (offset, offset_error) = self.offset(x);
        let value = x / (line + offset).exp();
        let spread = (2.0 * error.hypot(offset_error)).exp();
        Some(Prediction { value, low: value / spread, high: value * spread })
    }

    /// Returns the visited size with the highest throughput on the curve, and its prediction.
    pub fn best(&self) -> Option<(u64, Prediction)> {
        self.visited
            .iter()
            .filter_map(|&size| Some((size, self.predict(size)?)))
            .max_by(|a, b| a.1.value.total_cmp(&b.1.value))
    }

    /// Returns the logarithm of the ratio between the times of the class of `x` and those of the
    /// base near `x`, and its standard error.
    fn offset(&self, x: f64) -> (f64, f64) {
        let class = class_of(x);
        if class == self.base_class {
            return (0.0, 0.0);
        }
        let near = nearest(&self.others[class], x, NEAREST_OF_CLASS, |p| p.0);
        let residuals: Vec<f64> = near.iter().map(|p| p.1).collect();
        let Some(middle) = median(&residuals).filter(|_| residuals.len() >= 3) else {
            return (0.0, 0.0);
        };
        let spread: Vec<f64> = residuals.iter().map(|r| (r - middle).abs()).collect();
        // 1.4826 converts the median absolute deviation to a standard deviation; 1.2533 is the
        // standard error of the median relative to that of the mean. Both hold for normal errors.
        let deviation = 1.4826 * median(&spread).unwrap_or(0.0);
        let error = 1.2533 * deviation / (residuals.len() as f64).sqrt();
        if middle.abs() > 2.0 * error { (middle, error) } else { (0.0, error) }
    }

    /// Returns the logarithm of the base's time per call at `x`, and its standard error.
    fn base_line(&self, x: f64) -> Option<(f64, f64)> {
        let near = nearest(&self.base, x, (self.base.len() / 25).clamp(15, 41), |v| v.size);
        let widest =
            near.iter().map(|v| (v.size / x).ln().abs()).fold(0.0, f64::max) * 1.000_001 + 1e-12;
        let tricube: Vec<f64> = near
            .iter()
            .map(|v| (1.0 - ((v.size / x).ln().abs() / widest).powi(3)).powi(3) * v.trials)
            .collect();
        let times: Vec<f64> = near.iter().map(|v| v.log_time.exp()).collect();
        let mut robust = vec![1.0; near.len()];
        let mut found = None;
        for _ in 0..4 {
            let weights: Vec<f64> = tricube
                .iter()
                .zip(&robust)
                .zip(&times)
                .map(|((w, r), t)| w * r / (t * t))
                .collect();
            let (a, b, pull) = line_at(near, x, &times, &weights)?;
            let residuals: Vec<f64> =
                near.iter().zip(&times).map(|(v, t)| (a + b * (v.size - x)) / t - 1.0).collect();
            let sizes: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
            let scale = (6.0 * median(&sizes)?).max(1e-9);
            for (weight, residual) in robust.iter_mut().zip(&residuals) {
                let u = (residual / scale).clamp(-1.0, 1.0);
                *weight = (1.0 - u * u).powi(2);
            }
            let variance: f64 = pull
                .iter()
                .zip(&times)
                .zip(&residuals)
                .map(|((l, t), r)| (l * t / a * r).powi(2))
                .sum();
            found = Some((a.ln(), variance.sqrt()));
        }
        found
    }
}

/// Fits the weighted line through `(size - x, time)`. Returns its height and slope at `x`, and the
/// weight of each time in the height. Falls back to a constant if the slope is undetermined or the
/// height is not positive.
fn line_at(near: &[Visit], x: f64, times: &[f64], weights: &[f64]) -> Option<(f64, f64, Vec<f64>)> {
    let (mut s0, mut s1, mut s2) = (0.0, 0.0, 0.0);
    for (v, w) in near.iter().zip(weights) {
        let d = v.size - x;
        s0 += w;
        s1 += w * d;
        s2 += w * d * d;
    }
    if s0 <= 0.0 || !s0.is_finite() {
        return None;
    }
    let determinant = s0 * s2 - s1 * s1;
    if near.len() > 2 && determinant > 1e-9 * s0 * s2 {
        let pull: Vec<f64> = near
            .iter()
            .zip(weights)
            .map(|(v, w)| w * (s2 - (v.size - x) * s1) / determinant)
            .collect();
        let slope = near
            .iter()
            .zip(weights)
            .zip(times)
            .map(|((v, w), t)| w * t * ((v.size - x) * s0 - s1) / determinant)
            .sum();
        let height: f64 = pull.iter().zip(times).map(|(l, t)| l * t).sum();
        if height > 0.0 {
            return Some((height, slope, pull));
        }
    }
    let pull: Vec<f64> = weights.iter().map(|w| w / s0).collect();
    let height = pull.iter().zip(times).map(|(l, t)| l * t).sum();
    Some((height, 0.0, pull))
}

/// Returns up to `count` items nearest to `x` by ratio; `items` is sorted by `size`.
fn nearest<T>(items: &[T], x: f64, count: usize, size: impl Fn(&T) -> f64) -> &[T] {
    let mut low = items.partition_point(|i| size(i) < x);
    let mut high = low;
    while high - low < count.min(items.len()) {
        let below = low.checked_sub(1).map(|i| x / size(&items[i]));
        let above = items.get(high).map(|i| size(i) / x);
        match (below, above) {
            (Some(b), Some(a)) if b <= a => low -= 1,
            (_, Some(_)) => high += 1,
            (Some(_), None) => low -= 1,
            (None, None) => break,
        }
    }
    &items[low..high]
}

/// Merges the points of all trials: step 1 of the module's description.
fn merge(trials: &[Vec<[f64; 2]>]) -> Vec<Visit> {
    let good = |p: &[f64; 2]| p.iter().all(|v| v.is_finite() && *v > 0.0);
    // (size, trial, log time), averaged over repeats within a trial.
    let mut rows: Vec<(u64, usize, f64)> = Vec::new();
    for (trial, points) in trials.iter().enumerate() {
        let mut own: Vec<(u64, f64)> =
            points.iter().filter(|p| good(p)).map(|p| (p[0] as u64, (p[0] / p[1]).ln())).collect();
        own.sort_by_key(|p| p.0);
        for same in own.chunk_by(|a, b| a.0 == b.0) {
            let mean = same.iter().map(|p| p.1).sum::<f64>() / same.len() as f64;
            rows.push((same[0].0, trial, mean));
        }
    }
    rows.sort_by_key(|r| (r.0, r.1));
    let middle = |rows: &[(u64, usize, f64)]| {
        let values: Vec<f64> = rows.iter().map(|r| r.2).collect();
        // The median of two values is their mean; `rows` is never empty.
        median(&values).unwrap_or(f64::NAN)
    };
    let taking_part = trials.iter().filter(|t| t.iter().any(good)).count();
    let mut differences: Vec<Vec<f64>> = vec![Vec::new(); trials.len()];
    for same in rows.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == taking_part) {
        for row in same {
            differences[row.1].push(row.2 - middle(same));
        }
    }
    let levels: Vec<f64> = differences
        .iter()
        .map(|d| median(d).filter(|_| d.len() >= COMMON_SIZES).unwrap_or(0.0))
        .collect();
    for row in &mut rows {
        row.2 -= levels[row.1];
    }
    rows.chunk_by(|a, b| a.0 == b.0)
        .map(|same| Visit {
            size: same[0].0 as f64,
            log_time: middle(same),
            trials: same.len() as f64,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use assay_stats::rng::Rng;

    use super::*;

    /// A synthetic machine: 0.3 us per call, a bend at 40,000 B where the first cache is full, and
    /// 6 % faster at multiples of 512.
    fn machine(size: u64) -> f64 {
        let s = size as f64;
        let time = 0.3e-6 + s * 0.045e-9 + (s - 40_000.0).max(0.0) * 0.02e-9;
        let time = if size.is_multiple_of(512) { time / 1.06 } else { time };
        s / time
    }

    /// Relative noise with a standard deviation of about `sd` and occasional outliers.
    fn noise(rng: &mut Rng, sd: f64) -> f64 {
        let outlier = if rng.below(20) == 0 { 0.6 } else { 1.0 };
        (1.0 + rng.normal() * sd) * outlier
    }

    fn trial(rng: &mut Rng, level: f64, sizes: &[u64]) -> Vec<[f64; 2]> {
        sizes.iter().map(|&s| [s as f64, machine(s) * level * noise(rng, 0.03)]).collect()
    }

    fn sizes(rng: &mut Rng, n: usize) -> Vec<u64> {
        let mut sizes: Vec<u64> = (1..=25).map(|k| k * 4096).collect();
        sizes.extend((0..17).map(|k| 1 << k));
        sizes.extend((0..n).map(|_| 1 + rng.below(102_400) as u64));
        sizes
    }

    #[test]
    fn finds_a_noisy_curve_again() {
        let mut rng = Rng::new(5);
        let levels = [1.0, 0.9, 1.05, 1.0, 1.1, 0.95];
        let trials: Vec<_> = levels
            .iter()
            .map(|&level| {
                let sizes = sizes(&mut rng, 200);
                trial(&mut rng, level, &sizes)
            })
            .collect();
        let model = CurveModel::fit(&trials);
        let mut within = 0;
        for _ in 0..500 {
            let size = 1 + rng.below(102_400) as u64;
            let p = model.predict(size).unwrap();
            assert!(p.low <= p.value && p.value <= p.high);
            if (p.value / machine(size) - 1.0).abs() > 0.03 {
                eprintln!("{size} {:.3} {:.3}", p.value / machine(size), p.high / p.low);
            }
            within += u32::from((p.value / machine(size) - 1.0).abs() < 0.03);
        }
        assert!(within >= 490, "{within} of 500 within 3 %");
        let (best, _) = model.best().unwrap();
        let maximum = (1..=102_400).map(machine).fold(0.0, f64::max);
        assert!(machine(best) > 0.98 * maximum, "{best}");
    }

    #[test]
    fn a_class_of_its_own_is_seen() {
        let mut rng = Rng::new(6);
        let trials: Vec<_> = (0..6)
            .map(|_| {
                let sizes = sizes(&mut rng, 200);
                trial(&mut rng, 1.0, &sizes)
            })
            .collect();
        let model = CurveModel::fit(&trials);
        for k in 3..24 {
            let at = |s| model.predict(s).unwrap().value;
            let step = at(k * 4096) / at(k * 4096 + 1);
            assert!((1.03..1.09).contains(&step), "{k}: {step}");
        }
    }

    #[test]
    fn an_exact_line_is_exact_between_its_points() {
        let time = |s: f64| 1e-6 + s * 1e-9;
        let points: Vec<[f64; 2]> =
            (0..40).map(|k| f64::from(1 + 101 * k)).map(|s| [s, s / time(s)]).collect();
        let model = CurveModel::fit(&[points]);
        for s in [1u64, 50, 777, 3333] {
            let p = model.predict(s).unwrap();
            assert!((p.value / (s as f64 / time(s as f64)) - 1.0).abs() < 1e-6, "{s}");
            assert!((p.high / p.low - 1.0).abs() < 1e-3);
        }
    }

    #[test]
    fn little_or_nothing_visited() {
        assert!(CurveModel::fit(&[]).predict(5).is_none());
        assert!(CurveModel::fit(&[vec![[0.0, 1.0], [4.0, f64::NAN]]]).best().is_none());
        let one = CurveModel::fit(&[vec![[4096.0, 1e9]]]);
        let value = one.predict(4096).unwrap().value;
        assert!((value / 1e9 - 1.0).abs() < 1e-9);
    }
}
