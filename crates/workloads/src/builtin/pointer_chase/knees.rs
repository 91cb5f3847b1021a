//! Steps in a curve over working sets from one plateau to the next: segments of constant mean and
//! spread in the logarithm of the latency, from a minimum-cost segmentation
//! ([`assay_stats::curves::segment`]).

use assay_model::units::{format_bytes, format_value};
use assay_stats::curves::segment::pelt;

/// Minimum standard deviation of a segment, in the logarithm: smaller differences are not a knee.
const MIN_SD: f64 = 0.03;

/// A segment of the curve with constant latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plateau {
    /// First working set of the plateau in bytes.
    pub from: f64,
    /// Last working set of the plateau in bytes.
    pub to: f64,
    /// Geometric mean of the latency in seconds.
    pub value: f64,
}

/// Returns the plateaus of `points` (working set, latency) in order. Neighbours that differ by less
/// than 5 % are merged. Fewer than ten points have no plateaus.
pub fn plateaus(points: &[[f64; 2]]) -> Vec<Plateau> {
    if points.len() < 10 || points.iter().any(|p| p[1].is_nan() || p[1] <= 0.0) {
        return Vec::new();
    }
    let logs: Vec<f64> = points.iter().map(|p| p[1].ln()).collect();
    let penalty = 3.0 * (points.len() as f64).ln();
    let mut found: Vec<(usize, usize, f64)> = Vec::new();
    for s in pelt(&logs, penalty, MIN_SD) {
        match found.last_mut() {
            Some(last) if (s.mean - last.2).abs() < 0.05 => {
                let (a, b) = ((last.1 - last.0) as f64, (s.end - s.start) as f64);
                *last = (last.0, s.end, (last.2 * a + s.mean * b) / (a + b));
            }
            _ => found.push((s.start, s.end, s.mean)),
        }
    }
    let plateau = |(start, end, mean): (usize, usize, f64)| Plateau {
        from: points[start][0],
        to: points[end - 1][0],
        value: mean.exp(),
    };
    found.into_iter().map(plateau).collect()
}

/// Formats the edges of the plateaus: `48 KiB (2 ns to 6 ns), ...`.
pub fn describe(levels: &[Plateau], unit: &str) -> String {
    let step = |w: &[Plateau]| {
        format!(
            "{} ({} to {})",
            format_bytes(w[1].from as u64),
            format_value(w[0].value, unit),
            format_value(w[1].value, unit)
        )
    };
    levels.windows(2).map(step).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use assay_stats::rng::Rng;

    use super::*;

    #[test]
    fn a_staircase_has_its_steps() {
        let mut rng = Rng::new(5);
        let value = |i: usize| match i {
            0..=11 => 2e-9,
            12..=25 => 6e-9,
            26..=37 => 30e-9,
            _ => 110e-9,
        };
        let points: Vec<[f64; 2]> = (0..50)
            .map(|i| [4096.0 * (i as f64 / 4.0).exp2(), value(i) * (1.0 + 0.02 * rng.normal())])
            .collect();
        let found = plateaus(&points);
        let from: Vec<usize> =
            found.iter().map(|p| points.iter().position(|q| q[0] == p.from).unwrap()).collect();
        assert_eq!(from, [0, 12, 26, 38]);
        assert!((found[2].value / 30e-9 - 1.0).abs() < 0.02, "{found:?}");
    }

    #[test]
    fn a_flat_curve_has_none_and_few_points_tell_nothing() {
        let flat: Vec<[f64; 2]> = (0..30).map(|i| [f64::from(i + 1), 5e-9]).collect();
        assert_eq!(plateaus(&flat).len(), 1);
        assert!(plateaus(&flat[..9]).is_empty());
        assert!(plateaus(&[[1.0, f64::NAN]; 20]).is_empty());
    }
}
