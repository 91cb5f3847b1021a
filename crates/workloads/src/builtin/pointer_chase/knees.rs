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

/// Minimum difference between neighbouring plateaus, in the logarithm: 15 %.
const MIN_STEP: f64 = 0.14;
/// Minimum ratio of the last working set of a plateau to its first: two doublings. A shorter
/// segment between two others is a part of the slope from one plateau to the next.
const MIN_SPAN: f64 = 4.0;

/// Returns the plateaus of `points` (working set, latency or rate) in order. The first and the last
/// may be shorter than [`MIN_SPAN`], because the curve goes on beyond them. Fewer than ten points
/// have no plateaus.
pub fn plateaus(points: &[[f64; 2]]) -> Vec<Plateau> {
    if points.len() < 10 || points.iter().any(|p| p[1].is_nan() || p[1] <= 0.0) {
        return Vec::new();
    }
    let logs: Vec<f64> = points.iter().map(|p| p[1].ln()).collect();
    let penalty = 3.0 * (points.len() as f64).ln();
    let all = pelt(&logs, penalty, MIN_SD).into_iter().map(|s| (s.start, s.end, s.mean));
    let mut found = merged(all);
    found.retain(|(start, end, _)| {
        let long = points[end - 1][0] >= MIN_SPAN * points[*start][0];
        long || *start == 0 || *end == points.len()
    });
    let plateau = |(start, end, mean): (usize, usize, f64)| Plateau {
        from: points[start][0],
        to: points[end - 1][0],
        value: mean.exp(),
    };
    merged(found).into_iter().map(plateau).collect()
}

/// Merges neighbours (start, end, mean of the logarithm) that differ by less than [`MIN_STEP`].
fn merged(all: impl IntoIterator<Item = (usize, usize, f64)>) -> Vec<(usize, usize, f64)> {
    let mut found: Vec<(usize, usize, f64)> = Vec::new();
    for (start, end, mean) in all {
        match found.last_mut() {
            Some(last) if (mean - last.2).abs() < MIN_STEP => {
                let (a, b) = ((last.1 - last.0) as f64, (end - start) as f64);
                *last = (last.0, end, (last.2 * a + mean * b) / (a + b));
            }
            _ => found.push((start, end, mean)),
        }
    }
    found
}

/// Formats the slopes between the plateaus: `48 KiB and 56 KiB (2 ns to 6 ns), ...`.
pub fn describe(levels: &[Plateau], unit: &str) -> String {
    let step = |w: &[Plateau]| {
        format!(
            "{} and {} ({} to {})",
            format_bytes(w[0].to as u64),
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

    /// Bandwidth of `read` and `triad` in GB/s on an EPYC with caches of 48 KiB, 1 MiB and 32 MiB
    /// (shared with other virtual machines), at four working sets for each doubling from 24 KiB.
    const RECORDED: [[f64; 51]; 2] = [
        [
            447.9, 453.0, 467.6, 448.6, 412.6, 174.6, 187.2, 177.5, 180.0, 181.0, 183.5, 188.6,
            178.1, 188.1, 181.6, 183.1, 183.2, 197.3, 236.9, 251.5, 239.3, 108.2, 145.5, 86.2,
            114.2, 114.4, 115.8, 113.9, 111.3, 112.6, 118.0, 111.1, 106.7, 111.5, 107.7, 98.4,
            102.0, 87.4, 81.0, 55.0, 52.1, 52.8, 51.9, 46.9, 31.3, 36.1, 33.4, 35.5, 25.8, 30.8,
            25.9,
        ],
        [
            472.6, 435.8, 394.6, 412.7, 519.7, 366.3, 155.8, 189.7, 183.9, 184.2, 156.4, 188.8,
            186.3, 185.7, 188.7, 144.4, 222.9, 222.7, 217.7, 210.0, 225.6, 178.0, 152.6, 129.2,
            122.3, 116.8, 109.9, 106.8, 94.7, 102.6, 77.6, 109.0, 108.8, 118.8, 122.4, 119.6,
            113.3, 87.4, 107.4, 58.8, 51.8, 49.1, 45.3, 37.1, 36.0, 34.5, 34.1, 23.9, 31.8, 26.3,
            27.1,
        ],
    ];

    #[test]
    fn knees_of_recorded_curves_are_at_the_caches() {
        for rates in RECORDED {
            let sizes = (13..28).flat_map(|p| (4..8).map(move |i| f64::from(i << p) / 4.0));
            let points: Vec<[f64; 2]> =
                sizes.skip_while(|x| *x < 24576.0).zip(rates).map(|(x, y)| [x, y]).collect();
            let levels = plateaus(&points);
            assert_eq!(levels.len(), 4, "{}", describe(&levels, "B/s"));
            for (cache, w) in [48.0, 1024.0, 32768.0].into_iter().zip(levels.windows(2)) {
                let around = w[0].to / 1024.0 / 1.5..=w[1].from / 1024.0 * 1.5;
                assert!(around.contains(&cache), "{cache} KiB: {}", describe(w, "B/s"));
            }
        }
    }

    #[test]
    fn a_flat_curve_has_none_and_few_points_tell_nothing() {
        let flat: Vec<[f64; 2]> = (0..30).map(|i| [f64::from(i + 1), 5e-9]).collect();
        assert_eq!(plateaus(&flat).len(), 1);
        assert!(plateaus(&flat[..9]).is_empty());
        assert!(plateaus(&[[1.0, f64::NAN]; 20]).is_empty());
    }
}
