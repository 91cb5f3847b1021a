//! What a series' noise is like: its scale without outliers, and how much neighbours are alike.

use assay_stats::distribution::normal_quantile;

/// The median of `values`; `NaN` of none.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut v: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    if v.is_empty() {
        return f64::NAN;
    }
    v.sort_unstable_by(f64::total_cmp);
    let n = v.len();
    if n % 2 == 1 { v[n / 2] } else { f64::midpoint(v[n / 2 - 1], v[n / 2]) }
}

/// The median absolute deviation from `centre`, scaled to a normal distribution's standard deviation.
pub(crate) fn mad(values: &[f64], centre: f64) -> f64 {
    let away: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    median(&away) / 0.674_489_75
}

/// Huber's M-estimate of location with the constant 1.345, from the median, for a scale `sd`.
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

/// The normal scores (van der Waerden) of `values`: ranks, ties averaged, as standard normal quantiles.
/// An outlier becomes no more than the largest of them, and skew is gone.
pub(crate) fn scores(values: &[f64], table: &[f64], order: &mut Vec<u32>, out: &mut Vec<f64>) {
    let n = values.len();
    order.clear();
    order.extend(0..n as u32);
    order.sort_unstable_by(|a, b| values[*a as usize].total_cmp(&values[*b as usize]));
    out.clear();
    out.resize(n, 0.0);
    let mut i = 0;
    while i < n {
        let mut j = i + 1;
        while j < n && values[order[j] as usize] == values[order[i] as usize] {
            j += 1;
        }
        let score = table[i..j].iter().sum::<f64>() / (j - i) as f64;
        for place in &order[i..j] {
            out[*place as usize] = score;
        }
        i = j;
    }
}

/// The score of each rank of `n` values, with mean square 1.
pub(crate) fn score_table(n: usize) -> Vec<f64> {
    let mut table: Vec<f64> =
        (0..n).map(|i| normal_quantile((i as f64 + 1.0) / (n as f64 + 1.0))).collect();
    let square = table.iter().map(|s| s * s).sum::<f64>() / n.max(1) as f64;
    if square > 0.0 {
        for score in &mut table {
            *score /= square.sqrt();
        }
    }
    table
}

/// The lag-1 autocorrelation of first-order autoregressive noise under steps that are few: the mean
/// squares of differences at lags 1 to 8 are 2γ(1 − ρᵏ), which a step enters k times only, so ρ and γ
/// are fitted to them by least squares. `scores` are bounded, so that outliers weigh little.
pub(crate) fn alike(scores: &[f64]) -> f64 {
    let n = scores.len();
    let lags = 8.min(n / 4);
    if lags < 2 {
        return 0.0;
    }
    let square: Vec<f64> = (1..=lags)
        .map(|k| {
            let sum: f64 = (k..n).map(|i| (scores[i] - scores[i - k]).powi(2)).sum();
            sum / (n - k) as f64
        })
        .collect();
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

/// The lag-1 autocorrelation of residuals around `levels` fitted levels, with the bias that each of
/// them brings taken off (Kendall 1954: −(1 + 3ρ)/n for one level; about (1 + ρ)/n for each further).
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
