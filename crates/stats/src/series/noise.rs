//! Estimates the noise of a series: its scale without outliers, and its autocorrelation.

use crate::distribution::normal_quantile;

/// Returns the median of the finite `values`; `NaN` without any.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut v: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    if v.is_empty() {
        return f64::NAN;
    }
    v.sort_unstable_by(f64::total_cmp);
    let n = v.len();
    if n % 2 == 1 { v[n / 2] } else { f64::midpoint(v[n / 2 - 1], v[n / 2]) }
}

/// Returns the median absolute deviation from `centre`, scaled to a normal distribution's standard
/// deviation.
pub(crate) fn mad(values: &[f64], centre: f64) -> f64 {
    let away: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    median(&away) / 0.674_489_75
}

/// Returns Huber's M-estimate of location with the constant 1.345, starting at the median, for a
/// scale `sd`.
pub(crate) fn centre(values: &[f64], sd: f64) -> f64 {
    let mut m = median(values);
    if sd <= 0.0 || !sd.is_finite() {
        return m;
    }
    let limit = 1.345 * sd;
    for _ in 0..30 {
        let pull: f64 = values.iter().map(|v| (v - m).clamp(-limit, limit)).sum();
        let inside = values.iter().filter(|v| (*v - m).abs() < limit).count().max(1);
        let step = pull / inside as f64;
        m += step;
        if step.abs() < 1e-6 * sd {
            break;
        }
    }
    m
}

/// Share of the differences that are used for their scale; the largest may be steps and outliers.
const KEPT: f64 = 0.8;

/// Estimates the standard deviation of the values from their differences at `lag`. It is exact for
/// normal noise that is independent at this lag, and a step of any size affects only `lag` of the
/// differences. The estimate is the root mean square of the smallest [`KEPT`] of them, made
/// consistent for normal noise: their mean square is 1 − 2qφ(q)/KEPT for the quantile q.
pub(crate) fn trimmed(values: &[f64], lag: usize) -> f64 {
    let mut square: Vec<f64> =
        values.iter().zip(values.iter().skip(lag)).map(|(a, b)| (b - a).powi(2)).collect();
    let all = square.len();
    if all == 0 {
        return 0.0;
    }
    square.sort_unstable_by(f64::total_cmp);
    let q = normal_quantile(f64::midpoint(1.0, KEPT));
    let density = (-q * q / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let consistent = 1.0 - 2.0 * q * density / KEPT;
    let kept = ((all as f64 * KEPT) as usize).max(1);
    let mean = |square: &[f64]| square.iter().sum::<f64>() / square.len() as f64;
    // With a coarse clock, most differences are 0 and the others are its ticks.
    let mean =
        if square[all / 2] > 0.0 { mean(&square[..kept]) / consistent } else { mean(&square) };
    (mean / 2.0).sqrt()
}

/// Estimates the lag-1 autocorrelation of first-order autoregressive noise in the presence of a few
/// steps. The variances of differences at lags 1 to 8 (fewer for short series) are 2γ(1 − ρᵏ), and
/// a step affects only k differences. ρ and γ are fitted to the variances by least squares.
pub(crate) fn alike(values: &[f64]) -> f64 {
    let lags = (values.len() / 20).clamp(3, 8);
    let square: Vec<f64> = (1..=lags).map(|lag| trimmed(values, lag).powi(2)).collect();
    let mut best = (f64::INFINITY, 0.0);
    for step in -8..=19 {
        let rho = f64::from(step) * 0.05;
        let shape: Vec<f64> = (1..=lags as i32).map(|k| 1.0 - rho.powi(k)).collect();
        let gamma = shape.iter().zip(&square).map(|(s, d)| s * d).sum::<f64>()
            / shape.iter().map(|s| s * s).sum::<f64>();
        let miss: f64 = shape.iter().zip(&square).map(|(s, d)| (d - gamma * s).powi(2)).sum();
        if miss < best.0 {
            best = (miss, rho);
        }
    }
    best.1
}

/// Returns the lag-1 autocorrelation of residuals around `levels` fitted levels, with the bias of
/// each level removed (Kendall 1954: −(1 + 3ρ)/n for one level; about (1 + ρ)/n for each further).
pub(crate) fn residual_alike(residuals: &[f64], levels: usize) -> f64 {
    let n = residuals.len() as f64;
    let square: f64 = residuals.iter().map(|r| r * r).sum();
    if square <= 0.0 || n < 8.0 {
        return 0.0;
    }
    let product: f64 = residuals.windows(2).map(|w| w[0] * w[1]).sum();
    let raw = product / square;
    raw + (1.0 + 3.0 * raw + (levels.max(1) - 1) as f64 * (1.0 + raw)) / n
}
