//! Smoothness of a curve, separated from the noise of its measurement.
//!
//! Definition. Let u = ln x and y = ln(geometric mean of the trials) at the points that every trial
//! measured, m >= 7 of them, from n >= 2 trials. For each point with two neighbors on both sides
//! the local trend is the cubic through those four neighbors in (u, y). On a doubling grid it
//! follows the knee of any curve x/(a + bx) (a call with a fixed and a proportional time) to half a
//! percent. With wⱼ the weights that the cubic gives the neighbors,
//!
//! * dᵢ = (yᵢ − Σ wⱼ yⱼ) / √(1 + Σ wⱼ²), which has the spread of one point if points are
//!   independent;
//! * s = 1.4826 · median |dᵢ|, the spread of points about their trend;
//! * ε² = the noise of a point: the variance between trials at a point, after each trial's mean
//!   level is removed (a trial that is slower everywhere has not changed the shape), median over
//!   the points, divided by the median of χ²/ν for its ν = n − 1, and by n;
//! * roughness ρ = √max(0, s² − ε²); **smoothness = max(0, 1 − ρ)**.
//!
//! So 0.95 means that, beyond noise, a typical point lies 5 % off the trend of its neighbors.
//! Because it is a median it measures texture; a single step (a cache that ends) does not make a
//! curve rough.

use crate::outlier::MAD_TO_SIGMA;
use crate::summary::{mean, median, variance};

/// Minimum number of points for a smoothness.
pub const MIN_POINTS: usize = 7;

/// Approximates the median of χ²_ν / ν after Wilson and Hilferty (1931), within 1.5 % from ν = 2 on
/// and 3.5 % at 1.
fn median_of_chi_square_ratio(nu: f64) -> f64 {
    (1.0 - 2.0 / (9.0 * nu)).powi(3)
}

/// Noise of the mean at a point, as its standard error on the log scale, for each point and for the
/// typical one.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// Typical standard error ε (the robust pooled one of the definition).
    pub typical: f64,
    /// Standard error of each point.
    pub each: Vec<f64>,
}

/// Estimates the noise of the shape from logs in `rows[point][trial]`, where every row has one
/// value per trial. Returns `None` below two trials or two points, or if the rows differ in length.
pub fn noise(rows: &[Vec<f64>]) -> Option<Noise> {
    let n = rows.first()?.len();
    if n < 2 || rows.len() < 2 || rows.iter().any(|r| r.len() != n) {
        return None;
    }
    let m = rows.len() as f64;
    let level: Vec<f64> = (0..n).map(|j| rows.iter().map(|r| r[j]).sum::<f64>() / m).collect();
    let spread = |row: &Vec<f64>| {
        let shape: Vec<f64> = row.iter().zip(&level).map(|(y, l)| y - l).collect();
        // Removing the levels also removes 1/m of the noise.
        variance(&shape).map(|v| v * m / (m - 1.0))
    };
    let spreads: Vec<f64> = rows.iter().filter_map(spread).collect();
    let nu = n as f64 - 1.0;
    let typical = median(&spreads)? / median_of_chi_square_ratio(nu) / n as f64;
    let each = spreads.iter().map(|v| (v / n as f64).sqrt()).collect();
    Some(Noise { typical: typical.sqrt(), each })
}

/// Returns the weights with which the cubic through `nodes` gives its value at `u`.
fn cubic_weights(nodes: [f64; 4], u: f64) -> [f64; 4] {
    std::array::from_fn(|j| {
        let others = (0..4).filter(|k| *k != j);
        others.map(|k| (u - nodes[k]) / (nodes[j] - nodes[k])).product()
    })
}

/// Returns the smoothness, as defined above, of logs `y` at ascending logs `u` whose points have
/// the standard error `error`. Returns `None` below [`MIN_POINTS`], for different lengths, if u
/// does not ascend, or for numbers that are not finite.
pub fn smoothness(u: &[f64], y: &[f64], error: f64) -> Option<f64> {
    let rising = u.windows(2).all(|w| w[0] < w[1]);
    let finite = y.iter().chain(u).all(|v| v.is_finite()) && error.is_finite();
    if u.len() < MIN_POINTS || u.len() != y.len() || !rising || !finite {
        return None;
    }
    let deviation = |i: usize| {
        let at = [i - 2, i - 1, i + 1, i + 2];
        let w = cubic_weights(at.map(|k| u[k]), u[i]);
        let trend: f64 = w.iter().zip(at).map(|(w, k)| w * y[k]).sum();
        let squares: f64 = w.iter().map(|w| w * w).sum();
        ((y[i] - trend) / (1.0 + squares).sqrt()).abs()
    };
    let deviations: Vec<f64> = (2..u.len() - 2).map(deviation).collect();
    let s = MAD_TO_SIGMA * median(&deviations)?;
    let rough = (s * s - error * error).max(0.0).sqrt();
    rough.is_finite().then(|| (1.0 - rough).max(0.0))
}

/// Returns the mean of each row, for callers that hold the matrix.
pub fn row_means(rows: &[Vec<f64>]) -> Vec<f64> {
    rows.iter().map(|r| mean(r).unwrap_or(f64::NAN)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn doubling(m: i32) -> Vec<f64> {
        (0..m).map(|i| f64::from(i) * std::f64::consts::LN_2).collect()
    }

    /// Throughput of calls that take 1 µs + x · 1 ns.
    fn call(u: f64) -> f64 {
        (u.exp() / (1e-6 + 1e-9 * u.exp())).ln()
    }

    /// Returns rows of `n` trials of a true curve with noise `sd` and a level per trial that is off
    /// by 5 %.
    fn measured(truth: &[f64], n: usize, sd: f64, rng: &mut Rng) -> Vec<Vec<f64>> {
        let level: Vec<f64> = (0..n).map(|_| 0.05 * rng.normal()).collect();
        truth.iter().map(|y| level.iter().map(|l| y + l + sd * rng.normal()).collect()).collect()
    }

    #[test]
    fn a_fixed_and_a_proportional_cost_are_smooth() {
        let u = doubling(20);
        let y: Vec<f64> = u.iter().map(|u| call(*u)).collect();
        assert!(smoothness(&u, &y, 0.0).unwrap() > 0.997);
        let line: Vec<f64> = u.iter().map(|u| 2.0 * u).collect();
        assert!(smoothness(&u, &line, 0.0).unwrap() > 1.0 - 1e-9);
    }

    #[test]
    fn one_step_is_not_rough_but_texture_is() {
        let u = doubling(24);
        let step: Vec<f64> = (0..24).map(|i| if i < 12 { 1.0 } else { 0.3 }).collect();
        assert!(smoothness(&u, &step, 0.0).unwrap() > 0.99);
        let mut rng = Rng::new(41);
        let rough: Vec<f64> = u.iter().map(|u| call(*u) + 0.10 * rng.normal()).collect();
        let s = smoothness(&u, &rough, 0.0).unwrap();
        assert!((0.84..0.95).contains(&s), "{s}");
    }

    #[test]
    fn noise_is_distinguished_from_texture() {
        let mut rng = Rng::new(42);
        let u: Vec<f64> = (1..=300).map(|i| f64::from(i).ln()).collect();
        let smooth: Vec<f64> = u.iter().map(|u| call(*u)).collect();
        let textured: Vec<f64> = smooth.iter().map(|y| y + 0.05 * rng.normal()).collect();
        for n in [2, 3, 5, 10] {
            for sd in [0.005, 0.02, 0.05] {
                let mut got = [0.0; 2];
                for (truth, got) in [&smooth, &textured].into_iter().zip(&mut got) {
                    let rows = measured(truth, n, sd, &mut rng);
                    let e = noise(&rows).unwrap();
                    assert!(
                        (e.typical / (sd / (n as f64).sqrt()) - 1.0).abs() < 0.25,
                        "{n} {sd} {e:?}"
                    );
                    *got = smoothness(&u, &row_means(&rows), e.typical).unwrap();
                }
                assert!(got[0] > 0.975, "noise {sd}, {n} trials: smooth curve got {}", got[0]);
                assert!((got[1] - 0.95).abs() < 0.02, "noise {sd}, {n} trials: {}", got[1]);
            }
        }
    }

    #[test]
    fn what_cannot_be_computed_is_none() {
        let u = doubling(7);
        assert!(smoothness(&u, &[0.0; 7], 0.0).is_some());
        assert_eq!(smoothness(&u[..6], &[0.0; 6], 0.0), None);
        assert_eq!(smoothness(&[0.0; 7], &[0.0; 7], 0.0), None);
        assert_eq!(smoothness(&u, &[f64::NAN; 7], 0.0), None);
        assert_eq!(noise(&[vec![1.0], vec![1.0]]), None);
        assert_eq!(noise(&[vec![1.0, 2.0], vec![1.0]]), None);
    }
}
