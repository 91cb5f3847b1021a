//! Fits throughput against count: the Universal Scalability Law X(N) = γN / (1 + σ(N−1) + κN(N−1))
//! (Gunther, Guerrilla Capacity Planning, 2007) and Amdahl's law, which is κ = 0. N/X is linear in
//! the parameters, so each fit is a weighted linear least squares with weights (X/N)², which makes
//! the residuals relative errors, under σ >= 0 and κ >= 0.

use assay_model::ScalingModel;

/// Minimum number of different sizes for a fit.
pub const MIN_SIZES: usize = 6;

/// Scaling law to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// Contention only (κ = 0).
    Amdahl,
    /// Contention and coherency delay.
    Usl,
}

assay_model::names! {
    /// Returns the name used in records.
    pub Law::name: Amdahl = "amdahl", Usl = "usl"
}

/// Reason why a law cannot be fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FitError {
    /// There are too few different sizes.
    #[error("{sizes} sizes are too few for a fit; measure at least {minimum}", minimum = MIN_SIZES)]
    TooFew {
        /// Number of different sizes.
        sizes: usize,
    },
    /// A count is below 1 or a value is not positive.
    #[error("a scaling fit needs counts of 1 or more and positive values, not {value} at {count}")]
    NotPositive { count: f64, value: f64 },
    /// No valid parameters describe the data.
    #[error("no scaling law with a positive throughput of one fits these values")]
    NoFit,
}

/// Returns the throughput of a fitted model at `count`.
pub fn throughput(model: &ScalingModel, count: f64) -> f64 {
    let delay = 1.0 + model.sigma * (count - 1.0) + model.kappa * count * (count - 1.0);
    model.gamma * count / delay
}

/// Fits `law` to (count, throughput) points, with one point per size.
///
/// # Errors
/// If there are fewer than six different counts, a count is below 1, or a value is not positive.
pub fn fit(points: &[(f64, f64)], law: Law) -> Result<ScalingModel, FitError> {
    let good = |(n, x): &(f64, f64)| *n >= 1.0 && n.is_finite() && *x > 0.0 && x.is_finite();
    if let Some((count, value)) = points.iter().find(|p| !good(p)) {
        return Err(FitError::NotPositive { count: *count, value: *value });
    }
    let mut counts: Vec<f64> = points.iter().map(|p| p.0).collect();
    counts.sort_unstable_by(f64::total_cmp);
    counts.dedup();
    if counts.len() < MIN_SIZES {
        return Err(FitError::TooFew { sizes: counts.len() });
    }
    fit_checked(points, law).ok_or(FitError::NoFit)
}

/// Returns the best of the fits in which each subset of σ and κ is free and the others are 0. With
/// two constraints this is the constrained least squares.
fn fit_checked(points: &[(f64, f64)], law: Law) -> Option<ScalingModel> {
    let sets: &[[bool; 2]] = match law {
        Law::Amdahl => &[[false, false], [true, false]],
        Law::Usl => &[[false, false], [true, false], [false, true], [true, true]],
    };
    let mut best: Option<(f64, [f64; 3])> = None;
    for free in sets {
        let Some(beta) = solve(points, *free) else { continue };
        if !(beta[0] > 0.0 && beta[1] >= 0.0 && beta[2] >= 0.0) {
            continue;
        }
        let error: f64 = points.iter().map(|p| residual(*p, &beta).powi(2)).sum();
        if best.is_none_or(|(minimum, _)| error < minimum) {
            best = Some((error, beta));
        }
    }
    let (_, [a, b, c]) = best?;
    Some(ScalingModel { model: law.name().to_owned(), gamma: 1.0 / a, sigma: b / a, kappa: c / a })
}

/// Returns the columns 1, N−1, N(N−1) weighted by X/N. The target N/X with this weight is 1.
fn row((n, x): (f64, f64)) -> [f64; 3] {
    let w = x / n;
    [w, w * (n - 1.0), w * n * (n - 1.0)]
}

fn residual(point: (f64, f64), beta: &[f64; 3]) -> f64 {
    let r = row(point);
    1.0 - r[0] * beta[0] - r[1] * beta[1] - r[2] * beta[2]
}

/// Solves the normal equations with scaled columns by elimination with pivoting. Parameters that
/// are not free are 0.
fn solve(points: &[(f64, f64)], free: [bool; 2]) -> Option<[f64; 3]> {
    let used: Vec<usize> = (0..3).filter(|i| *i == 0 || free[*i - 1]).collect();
    let mut scale = [0.0f64; 3];
    for p in points {
        let r = row(*p);
        for i in 0..3 {
            scale[i] = scale[i].max(r[i].abs());
        }
    }
    let k = used.len();
    let mut m = vec![vec![0.0; k + 1]; k];
    for p in points {
        let r = row(*p);
        for (i, a) in used.iter().enumerate() {
            let ra = r[*a] / scale[*a];
            for (j, b) in used.iter().enumerate() {
                m[i][j] += ra * r[*b] / scale[*b];
            }
            m[i][k] += ra;
        }
    }
    for i in 0..k {
        let pivot = (i..k).max_by(|a, b| m[*a][i].abs().total_cmp(&m[*b][i].abs()))?;
        m.swap(i, pivot);
        if m[i][i].is_nan() || m[i][i].abs() <= 1e-12 {
            return None;
        }
        let lead = m[i].clone();
        for other in (0..k).filter(|o| *o != i) {
            let factor = m[other][i] / lead[i];
            for (x, l) in m[other].iter_mut().zip(&lead) {
                *x -= factor * l;
            }
        }
    }
    let mut beta = [0.0; 3];
    for (i, a) in used.iter().enumerate() {
        beta[*a] = m[i][k] / m[i][i] / scale[*a];
    }
    beta.iter().all(|b| b.is_finite()).then_some(beta)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(gamma: f64, sigma: f64, kappa: f64, counts: &[f64]) -> Vec<(f64, f64)> {
        let m = ScalingModel { model: String::new(), gamma, sigma, kappa };
        counts.iter().map(|n| (*n, throughput(&m, *n))).collect()
    }

    #[test]
    fn recovers_the_law_that_made_the_points() {
        let counts = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let m = fit(&exact(995.6, 0.0267, 0.000769, &counts), Law::Usl).unwrap();
        assert!((m.gamma / 995.6 - 1.0).abs() < 1e-9);
        assert!((m.sigma / 0.0267 - 1.0).abs() < 1e-9 && (m.kappa / 0.000769 - 1.0).abs() < 1e-9);
        let m = fit(&exact(3.0, 0.1, 0.0, &counts), Law::Amdahl).unwrap();
        assert!((m.gamma - 3.0).abs() < 1e-9 && (m.sigma - 0.1).abs() < 1e-9 && m.kappa == 0.0);
    }

    #[test]
    fn better_than_linear_is_held_at_linear() {
        let points: Vec<(f64, f64)> =
            (1..=8).map(|n| (f64::from(n), f64::from(n).powf(1.1))).collect();
        let m = fit(&points, Law::Usl).unwrap();
        assert_eq!((m.sigma, m.kappa), (0.0, 0.0));
    }

    #[test]
    fn refuses_five_sizes_and_bad_points() {
        let e = fit(&exact(1.0, 0.0, 0.0, &[1.0, 2.0, 3.0, 4.0, 5.0]), Law::Usl);
        assert_eq!(e, Err(FitError::TooFew { sizes: 5 }));
        let mut p = exact(1.0, 0.0, 0.0, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        p[2].1 = 0.0;
        assert_eq!(fit(&p, Law::Usl), Err(FitError::NotPositive { count: 3.0, value: 0.0 }));
        p[2] = (0.0, 1.0);
        assert!(fit(&p, Law::Amdahl).is_err());
    }
}
