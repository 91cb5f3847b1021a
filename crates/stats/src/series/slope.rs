//! Recognizes a slow slope that was detected as a staircase. Consecutive steps in the same
//! direction are compared with one straight line between two levels, by the Bayesian information
//! criterion (Schwarz, Annals of Statistics 6 (1978) 461) of bounded residuals.

use crate::series::change_point::Slope;
use crate::series::detect::LevelNoise;
use crate::series::noise::centre;

/// Minimum number of points in a slope; a shorter one is a step.
const SHORTEST: usize = 10;
/// Bound of a residual in standard deviations.
const BOUND: f64 = 3.5;

fn loss(residual: f64, around: LevelNoise) -> f64 {
    (residual / around.sd).abs().min(BOUND).powi(2)
}

/// Returns the criterion of the steps at `cuts` in `values`: one place and one size each.
fn of_steps(values: &[f64], cuts: &[usize], around: LevelNoise) -> f64 {
    let mut ends = vec![0];
    ends.extend_from_slice(cuts);
    ends.push(values.len());
    let miss: f64 = ends
        .windows(2)
        .map(|e| {
            let part = &values[e[0]..e[1]];
            let level = centre(part, around.sd);
            part.iter().map(|v| loss(v - level, around)).sum::<f64>()
        })
        .sum();
    miss + (2 * cuts.len()) as f64 * (values.len() as f64).ln()
}

/// Finds the best line from one level to another in `values`. Returns its criterion, with two
/// places and one size as parameters, and the line.
fn of_ramp(values: &[f64], around: LevelNoise) -> Option<(f64, Slope)> {
    let n = values.len();
    let grid = (n / 25).max(1);
    let shortest = SHORTEST.max(grid);
    let mut best: Option<(f64, Slope)> = None;
    for from in (0..n.saturating_sub(shortest)).step_by(grid) {
        for to in (from + shortest..=n).step_by(grid) {
            // Fit the two levels by least squares with the line's weights, then use bounded
            // residuals.
            let weight = |i: usize| {
                (i as f64 - from as f64).clamp(0.0, (to - from) as f64) / (to - from) as f64
            };
            let (mut ww, mut wu, mut uu, mut wy, mut uy) = (0.0, 0.0, 0.0, 0.0, 0.0);
            for (i, v) in values.iter().enumerate() {
                let (w, u) = (weight(i), 1.0 - weight(i));
                ww += w * w;
                wu += w * u;
                uu += u * u;
                wy += w * v;
                uy += u * v;
            }
            let det = ww * uu - wu * wu;
            if det.abs() < 1e-9 {
                continue;
            }
            let after = (wy * uu - uy * wu) / det;
            let before = (uy * ww - wy * wu) / det;
            let miss: f64 = values
                .iter()
                .enumerate()
                .map(|(i, v)| loss(v - before - weight(i) * (after - before), around))
                .sum();
            if best.as_ref().is_none_or(|b| miss < b.0) {
                best = Some((miss, Slope { from, to, before, after }));
            }
        }
    }
    best.map(|(miss, ramp)| (miss + 3.0 * (n as f64).ln(), ramp))
}

/// Returns the slope that explains `values` better than the steps at `cuts` by a clear margin (10:
/// "very strong" by Kass and Raftery, JASA 90 (1995) 773), if there is one.
pub(crate) fn find_slope(values: &[f64], cuts: &[usize], around: LevelNoise) -> Option<Slope> {
    if around.sd <= 0.0 || values.len() < 2 * SHORTEST {
        return None;
    }
    // Long parts are reduced to means of neighbours: a slope over thousands of points does not need
    // every single one.
    let fold = values.len().div_ceil(400);
    if fold > 1 {
        let short: Vec<f64> =
            values.chunks(fold).map(|c| c.iter().sum::<f64>() / c.len() as f64).collect();
        let cuts: Vec<usize> = cuts.iter().map(|c| c / fold).filter(|c| *c > 0).collect();
        let thin = LevelNoise { sd: around.sd / (fold as f64).sqrt(), rho: around.rho };
        return find_slope(&short, &cuts, thin).map(|r| Slope {
            from: r.from * fold,
            to: (r.to * fold).min(values.len()),
            ..r
        });
    }
    // Autoregressive noise repeats its evidence, so the effective number of points is smaller.
    let worth = (1.0 - around.rho.clamp(0.0, 0.9)) / (1.0 + around.rho.clamp(0.0, 0.9));
    let steps = of_steps(values, cuts, around);
    let (line, ramp) = of_ramp(values, around)?;
    ((steps - line) * worth > 10.0).then_some(ramp)
}
