//! Accuracy of predictions for 64 cores from measurements on fewer, with 2 % noise.

use assay_model::ScalingModel;
use assay_stats::curves::usl::{Law, fit, throughput};
use assay_stats::percentile::quantile;
use assay_stats::rng::Rng;

/// Values of σ and κ of the simulated machines.
const MACHINES: [(f64, f64); 4] = [(0.01, 0.0001), (0.02, 0.0001), (0.02, 0.0005), (0.05, 0.0002)];

/// Counts that are measured.
pub const TO_8: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
pub const TO_32: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0];

/// Returns the 5th and 95th percentile of predicted / true throughput at 64 cores: by the USL, and
/// by scaling the largest measured size linearly.
pub fn predictions_of_64(counts: &[f64], repeats: usize, seed: u64) -> ([f64; 2], [f64; 2]) {
    let mut rng = Rng::new(seed);
    let (mut usl, mut linear) = (Vec::new(), Vec::new());
    for repeat in 0..repeats {
        let (sigma, kappa) = MACHINES[repeat % MACHINES.len()];
        let truth = ScalingModel { model: String::new(), gamma: 100.0, sigma, kappa };
        let points: Vec<(f64, f64)> = counts
            .iter()
            .map(|n| (*n, throughput(&truth, *n) * (0.02 * rng.normal()).exp()))
            .collect();
        let at_64 = throughput(&truth, 64.0);
        if let Ok(model) = fit(&points, Law::Usl) {
            usl.push(throughput(&model, 64.0) / at_64);
        }
        if let Some((n, x)) = points.last() {
            linear.push(x * 64.0 / n / at_64);
        }
    }
    let band = |v: &[f64]| [0.05, 0.95].map(|p| quantile(v, p).unwrap_or(f64::NAN));
    (band(&usl), band(&linear))
}
