//! Simulated series with known truth, from a seed, for calibrating and scoring detectors.

use crate::rng::Rng;

/// Kinds of noise, each with a standard deviation of about 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Independent and normal noise.
    White,
    /// First-order autoregressive noise with this correlation of neighbours.
    Ar(f64),
    /// Normal noise with 3 % of the points 5 to 15 standard deviations away.
    Outliers,
    /// Lognormal noise (0.7), shifted to mean 0.
    Skewed,
    /// Bimodal noise: 30 % of the points are two units higher, each mode with a standard deviation
    /// of 0.4.
    Bimodal,
}

impl Noise {
    /// The five kinds that limits are calibrated for.
    pub const ALL: [Noise; 5] =
        [Noise::White, Noise::Ar(0.5), Noise::Outliers, Noise::Skewed, Noise::Bimodal];

    /// Returns the name of the noise in tables.
    pub fn name(self) -> &'static str {
        match self {
            Noise::White => "white",
            Noise::Ar(_) => "AR(1)",
            Noise::Outliers => "outliers",
            Noise::Skewed => "skewed",
            Noise::Bimodal => "bimodal",
        }
    }

    /// Draws `n` values of this noise.
    pub fn values(self, rng: &mut Rng, n: usize) -> Vec<f64> {
        let mut before = rng.normal();
        (0..n)
            .map(|_| match self {
                Noise::White => rng.normal(),
                Noise::Ar(rho) => {
                    let now = before;
                    before = rho * before + (1.0 - rho * rho).sqrt() * rng.normal();
                    now
                }
                Noise::Outliers => {
                    let white = rng.normal();
                    let (hit, side, far) = (rng.uniform(), rng.uniform(), rng.uniform());
                    let away = if side < 0.5 { -5.0 - 10.0 * far } else { 5.0 + 10.0 * far };
                    if hit < 0.03 { white + away } else { white }
                }
                Noise::Skewed => {
                    let spread = ((0.49f64.exp() - 1.0) * 0.49f64.exp()).sqrt();
                    ((0.7 * rng.normal()).exp() - 0.245f64.exp()) / spread
                }
                Noise::Bimodal => 0.4 * rng.normal() + if rng.uniform() < 0.3 { 2.0 } else { 0.0 },
            })
            .collect()
    }

    /// Returns a series of `n` values around 100 with a coefficient of variation of 2 %, and a step
    /// of `step` standard deviations at index `at`.
    pub fn series(self, rng: &mut Rng, n: usize, step: f64, at: usize) -> Vec<f64> {
        let mut values = self.values(rng, n);
        values.iter_mut().skip(at).for_each(|v| *v += step);
        values.iter().map(|v| 100.0 + 2.0 * v).collect()
    }
}
