//! Counts the modes of trial values: peaks of a kernel density estimate on their logarithms.
//!
//! Gaussian kernels with Silverman's bandwidth 0.9 min(s, IQR/1.34) n^(-1/5) (Silverman 1986,
//! section 3.4.2) on a grid of 256 points. Two peaks are two modes only if the valley between them
//! is lower than [`VALLEY`] of the lower peak and at least [`SHARE`] of the values lie on either
//! side of it.
//!
//! A kernel estimate has little power for small samples. Up to [`FEW`] values are therefore also
//! two modes if the best split into two groups (least squares) leaves a gap of more than [`GAP`]
//! standard deviations of the wider group. Below [`MIN_VALUES`] values there is no verdict. Tests
//! in this file simulate the false alarms of both rules on unimodal samples, and their power.

use assay_stats::percentile::quantile;
use assay_stats::summary::variance;

/// Minimum number of values for a verdict.
pub(super) const MIN_VALUES: usize = 12;
/// Minimum number of values for the kernel estimate, which takes the tail of a small skewed sample
/// for a mode.
const SMOOTH: usize = 20;
/// Maximum number of values for which a gap separates two modes.
const FEW: usize = 30;
/// Minimum gap between two modes, in standard deviations of the wider group. 1.5 of 100 normal
/// samples of 12 values have a wider gap; larger samples have fewer.
const GAP: f64 = 2.5;
/// Maximum density in a valley, as a share of the lower of its two peaks.
const VALLEY: f64 = 0.5;
/// Minimum share of the values on either side of a valley.
const SHARE: f64 = 0.15;
const GRID: usize = 256;
/// Distance in bandwidths beyond which a kernel is below 1e-13 and is skipped.
const REACH: f64 = 7.75;

/// Returns the number of modes of positive values; `None` below [`MIN_VALUES`] values, with a value
/// that is not positive, or without spread.
pub(super) fn modes(values: &[f64]) -> Option<usize> {
    if values.len() < MIN_VALUES || values.iter().any(|v| !(v.is_finite() && *v > 0.0)) {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
    if logs.len() <= FEW && is_split(&logs)? {
        return Some(2);
    }
    if logs.len() < SMOOTH {
        return Some(1);
    }
    let iqr = quantile(&logs, 0.75)? - quantile(&logs, 0.25)?;
    let sd = variance(&logs)?.sqrt();
    let spread = if iqr > 0.0 { sd.min(iqr / 1.34) } else { sd };
    let bandwidth = 0.9 * spread * (logs.len() as f64).powf(-0.2);
    if !(bandwidth.is_finite() && bandwidth > 1e-12) {
        return None;
    }
    let low = logs.iter().copied().fold(f64::INFINITY, f64::min) - 3.0 * bandwidth;
    let high = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max) + 3.0 * bandwidth;
    let at = |i: usize| low + (high - low) * i as f64 / (GRID - 1) as f64;
    let kernel = |distance: f64| {
        if distance.abs() > REACH { 0.0 } else { (-0.5 * distance * distance).exp() }
    };
    let density: Vec<f64> = (0..GRID)
        .map(at)
        .map(|at| logs.iter().map(|x| kernel((at - x) / bandwidth)).sum())
        .collect();
    let below = |i: usize| logs.iter().filter(|x| **x < at(i)).count() as f64 / logs.len() as f64;
    Some(count(&density, below))
}

/// True if a gap separates the values into two groups; `None` without spread.
fn is_split(values: &[f64]) -> Option<bool> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (first, last) = (sorted.first()?, sorted.last()?);
    if last - first < 1e-12 {
        return None;
    }
    let minimum = ((SHARE * sorted.len() as f64).ceil() as usize).max(3);
    let split = |at: usize| {
        let (left, right) = sorted.split_at(at);
        let (l, r) = (variance(left)?, variance(right)?);
        let within = l * (left.len() - 1) as f64 + r * (right.len() - 1) as f64;
        Some((within, right[0] - left[at - 1], l.max(r).sqrt()))
    };
    let best =
        (minimum..=sorted.len() - minimum).filter_map(split).min_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, gap, sd)| sd > 0.0 && gap > GAP * sd)
}

/// Counts the peaks that are separated by a real valley, from left to right.
fn count(density: &[f64], below: impl Fn(usize) -> f64) -> usize {
    let mut modes = 1;
    let (mut peak, mut valley) = (0, 0);
    let mut share_before = 0.0;
    for i in 1..density.len() {
        if density[i] < density[valley] {
            valley = i;
        }
        let deep = density[valley] < VALLEY * density[peak].min(density[i]);
        let (left, right) = (below(valley) - share_before, 1.0 - below(valley));
        // The valley counts only if the right side rises to a peak of its own.
        if valley > peak && deep && left >= SHARE && right >= SHARE && is_peak(density, i) {
            modes += 1;
            share_before = below(valley);
            (peak, valley) = (i, i);
        } else if density[i] >= density[peak] {
            (peak, valley) = (i, i);
        }
    }
    modes
}

fn is_peak(density: &[f64], i: usize) -> bool {
    i + 1 < density.len() && density[i] >= density[i - 1] && density[i] > density[i + 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::rng::Rng;

    /// Returns the share of 400 samples of `n` values with more than one mode.
    fn share(n: usize, seed: u64, mut draw: impl FnMut(&mut Rng) -> f64) -> f64 {
        let mut rng = Rng::new(seed);
        let several = (0..400)
            .filter(|_| {
                let values: Vec<f64> = (0..n).map(|_| draw(&mut rng)).collect();
                modes(&values).is_some_and(|m| m > 1)
            })
            .count();
        several as f64 / 400.0
    }

    #[test]
    fn one_mode_rarely_looks_like_two() {
        for n in [12, 16, 20, 30, 40, 100] {
            assert!(share(n, 1, |r| 100.0 * (0.02 * r.normal()).exp()) < 0.03, "normal, {n}");
            assert!(share(n, 2, |r| 100.0 * (1.0 + 0.03 * r.exponential())) < 0.10, "skewed, {n}");
        }
    }

    #[test]
    fn two_modes_are_seen() {
        let two = |r: &mut Rng| {
            let shift = if r.uniform() < 0.7 { 1.0 } else { 1.08 };
            shift * (0.01 * r.normal()).exp()
        };
        for n in [30, 100] {
            assert!(share(n, 3, two) > 0.80, "{n}: {}", share(n, 3, two));
        }
        let even = |r: &mut Rng| {
            let shift = if r.uniform() < 0.5 { 1.0 } else { 1.08 };
            shift * (0.01 * r.normal()).exp()
        };
        assert!(share(12, 4, two) > 0.60, "{}", share(12, 4, two));
        assert!(share(12, 5, even) > 0.80, "{}", share(12, 5, even));
    }

    #[test]
    fn there_is_no_verdict_where_there_can_be_none() {
        assert_eq!(modes(&[1.0; 50]), None);
        assert_eq!(modes(&[1.0, 2.0, 3.0]), None);
        let mut values = vec![1.0; 30];
        values[3] = 0.0;
        assert_eq!(modes(&values), None);
    }
}
