//! Locates a detected change and estimates its size: a posterior over places from a bounded
//! Gaussian likelihood, and a difference of robust levels whose standard error accounts for
//! autocorrelation.

use crate::distribution::student_quantile;

use crate::series::detect::{LevelNoise, variance_of_mean};
use crate::series::noise::centre;

/// Bound of a residual in standard deviations; larger residuals carry no information about the
/// place.
const BOUND: f64 = 3.5;

/// The place of one change.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LocatedChange {
    pub at: usize,
    /// First and last index of the shortest set that holds 95 % of the posterior.
    pub interval: (usize, usize),
}

fn loss(residual: f64) -> f64 {
    residual.abs().min(BOUND).powi(2) / 2.0
}

/// Returns the most likely place of the change near `start` in `from..to`, with a uniform prior
/// over places.
pub(crate) fn place(
    values: &[f64],
    from: usize,
    start: usize,
    to: usize,
    around: LevelNoise,
) -> LocatedChange {
    let part = &values[from..to];
    let n = part.len();
    let side = crate::series::detect::MIN_SIDE;
    let mut at = start - from;
    let rho = around.rho.clamp(0.0, 0.9);
    let innovation = around.sd * (1.0 - rho * rho).sqrt();
    let mut weights = Vec::new();
    if innovation <= 0.0 || n < 2 * side {
        return LocatedChange { at: start, interval: (start, start) };
    }
    for _ in 0..5 {
        let before = centre(&part[..at], around.sd);
        let after = centre(&part[at..], around.sd);
        // Loss of each innovation under either level; one innovation contains the step itself.
        let under = |i: usize, level: f64| {
            let own = part[i] - level;
            if i == 0 {
                loss(own / around.sd)
            } else {
                loss((own - rho * (part[i - 1] - level)) / innovation)
            }
        };
        let mut fit = Vec::with_capacity(n);
        let mut later: f64 = (side + 1..n).map(|i| under(i, after)).sum();
        let mut earlier: f64 = (0..side).map(|i| under(i, before)).sum();
        for k in side..=n - side {
            let own = (part[k] - after) - rho * (part[k - 1] - before);
            fit.push(-(earlier + loss(own / innovation) + later));
            earlier += under(k, before);
            if k + 1 < n {
                later -= under(k + 1, after);
            }
        }
        let most = fit.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        weights = fit.iter().map(|f| (f - most).exp()).collect();
        let next = side + fit.iter().position(|f| *f == most).unwrap_or(at - side);
        if next == at {
            break;
        }
        at = next;
    }
    let interval = shortest(&weights, 0.95);
    LocatedChange { at: from + at, interval: (from + side + interval.0, from + side + interval.1) }
}

/// Returns the first and last of the most likely entries that hold the share `level` of the sum.
pub(crate) fn shortest(weights: &[f64], level: f64) -> (usize, usize) {
    let total: f64 = weights.iter().sum();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
    let (mut sum, mut low, mut high) = (0.0, usize::MAX, 0);
    for i in order {
        sum += weights[i];
        low = low.min(i);
        high = high.max(i);
        if sum >= level * total {
            break;
        }
    }
    (low.min(high), high)
}

/// Levels on both sides of a change, and half the width of the interval of their difference.
pub(crate) struct ChangeLevels {
    pub before: f64,
    pub after: f64,
    pub half_width: f64,
}

/// Computes the levels of `before` and `after`, and half the width of the 95 % interval of their
/// difference. The variance of a mean of autoregressive noise is (1 + ρ)/(1 − ρ) times that of
/// white noise.
pub(crate) fn size(before: &[f64], after: &[f64], around: LevelNoise) -> ChangeLevels {
    let rho = around.rho.clamp(0.0, 0.9);
    let each = |n: usize| variance_of_mean(rho, n);
    let (b, a) = (before.len(), after.len());
    // Huber's estimate has 95 % of the mean's efficiency for normal noise.
    let variance = around.sd.powi(2) * (each(b) + each(a)) / 0.95;
    let free = ((b + a) as f64 * (1.0 - rho) / (1.0 + rho) - 2.0).max(2.0);
    ChangeLevels {
        before: centre(before, around.sd),
        after: centre(after, around.sd),
        half_width: student_quantile(0.975, free) * variance.sqrt(),
    }
}
