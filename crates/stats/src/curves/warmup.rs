//! Finds where a series of samples within one trial becomes steady, if it does: PELT on mean and
//! variance for 100 points and more (Barrett et al., OOPSLA 2017), MSER-5 for 20 to 99 (White, Cobb
//! and Spratt, WSC 2000), and no verdict below.

use assay_model::{Better, SeriesShape};

use crate::curves::segment::{Segment, pelt};
use crate::percentile::quantile;
use crate::summary::{mean, median, variance};

/// Method that found the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detector {
    /// PELT on mean and variance.
    Pelt,
    /// MSER-5 (marginal standard error rule) on batches of five samples.
    Mser5,
}

/// Classification of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Steady {
    pub class: SeriesShape,
    /// Index of the first steady sample; `None` without a steady state.
    pub start: Option<usize>,
    /// Method that was used; `None` if the series is too short.
    pub detector: Option<Detector>,
    /// Segments found by PELT, as indices into the series; empty for MSER-5.
    pub segments: Vec<Segment>,
}

/// Minimum number of samples for a verdict.
pub const SHORTEST: usize = 20;
/// Minimum number of samples for PELT.
pub const LONG: usize = 100;
/// Minimum length of the steady part, in samples. For shorter series it is half of the series.
pub const TAIL: usize = 200;
/// Maximum number of points for PELT, because its time grows with the square of the length of a
/// series without changes. Longer series are averaged in equal groups.
const MAX_POINTS: usize = 4096;

/// Classifies the samples of one trial, in time order. `better` defines which change is a warm-up
/// ([`Better::Neither`] is treated as `Lower`, as for times). Values that are not finite are
/// skipped; the series is [`Class::TooShort`] if fewer than 20 finite ones are left.
pub fn steady_state(values: &[f64], better: Better) -> Steady {
    let index: Vec<usize> = (0..values.len()).filter(|i| values[*i].is_finite()).collect();
    let finite: Vec<f64> = index.iter().map(|i| values[*i]).collect();
    let mut steady = match finite.len() {
        0..SHORTEST => Steady {
            class: SeriesShape::TooShort,
            start: None,
            detector: None,
            segments: Vec::new(),
        },
        SHORTEST..LONG => by_mser5(&finite, better),
        _ => by_pelt(&finite, better),
    };
    let original = |i: usize| index.get(i).copied().unwrap_or(values.len());
    steady.start = steady.start.map(original);
    for s in &mut steady.segments {
        (s.start, s.end) = (original(s.start), original(s.end));
    }
    steady
}

fn changed(from: f64, to: f64, better: Better) -> SeriesShape {
    let improved = if better == Better::Higher { to > from } else { to < from };
    if improved { SeriesShape::Warmup } else { SeriesShape::Slowdown }
}

/// Returns the number of samples that MSER-5 cuts: with batch means Z of five samples, the d that
/// minimizes Σ_{j>=d}(Z_j − Z̄_d)² / (k − d)². At least three batches remain, because two agree by
/// chance. Returns `None` below 20 samples, or if the minimum is in the second half of the series,
/// which is then not steady.
pub fn mser5(values: &[f64]) -> Option<usize> {
    if values.len() < SHORTEST {
        return None;
    }
    // Whole batches from the end, so that the incomplete batch is at the start, where a warm-up may
    // be.
    let offset = values.len() % 5;
    let z: Vec<f64> = values[offset..].chunks_exact(5).filter_map(mean).collect();
    let k = z.len();
    let score = |d: usize| {
        let rest = (k - d) as f64;
        variance(&z[d..]).map_or(f64::INFINITY, |v| v * (rest - 1.0) / (rest * rest))
    };
    let d = (0..=k - 3).min_by(|a, b| score(*a).total_cmp(&score(*b)))?;
    match d {
        0 => Some(0),
        d if d <= k / 2 => Some(offset + 5 * d),
        _ => None,
    }
}

fn by_mser5(values: &[f64], better: Better) -> Steady {
    let mut steady = Steady {
        class: SeriesShape::NoSteadyState,
        start: None,
        detector: Some(Detector::Mser5),
        segments: Vec::new(),
    };
    let Some(cut) = mser5(values) else { return steady };
    let (head, tail) = values.split_at(cut);
    steady.start = Some(cut);
    // MSER-5 always finds a minimum. If the head differs from the tail by at most three standard
    // errors, it is no warm-up and the series is flat.
    let pieces = mean(head).zip(mean(tail)).zip(variance(tail));
    let Some(((before, after), v)) = pieces else {
        steady.class = SeriesShape::Flat;
        return steady;
    };
    let error = (v * (1.0 / head.len() as f64 + 1.0 / tail.len() as f64)).sqrt();
    if (before - after).abs() <= 3.0 * error {
        steady.class = SeriesShape::Flat;
        steady.start = Some(0);
    } else {
        steady.class = changed(before, after, better);
    }
    steady
}

/// Returns the indices of values that are not outliers: within median ± 3 · (P90 − P10) of the 200
/// samples around them, the rule of Barrett et al. Unlike the MAD, it does not treat the minority
/// side of a step as outliers.
fn without_outliers(values: &[f64]) -> Vec<usize> {
    let half = TAIL / 2;
    let inside = |i: &usize| {
        let window = &values[i.saturating_sub(half)..(i + half).min(values.len())];
        let limits = median(window).zip(quantile(window, 0.9)).zip(quantile(window, 0.1));
        limits.is_none_or(|((m, high), low)| (values[*i] - m).abs() <= 3.0 * (high - low))
    };
    (0..values.len()).filter(inside).collect()
}

/// Estimates the noise between neighbors as 1.4826 · median |xᵢ₊₁ − xᵢ| / √2, which steps and
/// trends hardly affect.
fn neighbour_noise(values: &[f64]) -> f64 {
    let steps: Vec<f64> = values.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    median(&steps).map_or(0.0, |m| 1.4826 * m / 2f64.sqrt())
}

fn by_pelt(values: &[f64], better: Better) -> Steady {
    let group = values.len().div_ceil(MAX_POINTS);
    let points: Vec<f64> = values.chunks(group).filter_map(mean).collect();
    let kept = without_outliers(&points);
    let clean: Vec<f64> = kept.iter().map(|i| points[*i]).collect();
    // A segment's noise is at least a tenth of that between neighbors or 0.1 % of the level.
    // Smaller changes do not matter, and equal values must not look infinitely quiet.
    let level = median(&clean).unwrap_or(0.0).abs();
    let minimum = (0.1 * neighbour_noise(&clean)).max(1e-3 * level).max(f64::MIN_POSITIVE.sqrt());
    let cut = pelt(&clean, 15.0 * (clean.len() as f64).ln(), minimum);
    let (class, first) = classify(&cut, clean.len(), group, minimum, better);
    let back = |i: usize| kept.get(i).map_or(values.len(), |p| p * group);
    Steady {
        class,
        start: first.map(|i| if i == 0 { 0 } else { back(i) }),
        detector: Some(Detector::Pelt),
        segments: cut
            .iter()
            .map(|s| Segment { start: back(s.start), end: back(s.end), ..*s })
            .collect(),
    }
}

/// Classifies segments. Segments whose bands (mean ± sd, at least `minimum`) overlap that of the
/// last one belong together. The steady part is the run of such segments at the end; it must be at
/// least as long as the tail.
fn classify(
    cut: &[Segment],
    n: usize,
    group: usize,
    minimum: f64,
    better: Better,
) -> (SeriesShape, Option<usize>) {
    let Some(last) = cut.last() else { return (SeriesShape::NoSteadyState, None) };
    let band = |s: &Segment| s.sd.max(minimum);
    let like_last = |s: &&Segment| (s.mean - last.mean).abs() <= band(s) + band(last);
    let steady = cut.iter().rev().take_while(like_last).last().unwrap_or(last);
    let tail = TAIL.div_ceil(group).min(n / 2);
    if n - steady.start < tail {
        return (SeriesShape::NoSteadyState, None);
    }
    let before = cut.iter().filter(|s| s.end <= steady.start).max_by(|a, b| {
        // The segment that is best decides: a series that was better once and settles worse is a
        // slowdown.
        let score = |s: &Segment| if better == Better::Higher { s.mean } else { -s.mean };
        score(a).total_cmp(&score(b))
    });
    match before {
        None => (SeriesShape::Flat, Some(0)),
        Some(b) => (changed(b.mean, last.mean, better), Some(steady.start)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn noise(n: usize, mean: f64, sd: f64, rng: &mut Rng) -> Vec<f64> {
        (0..n).map(|_| mean + sd * rng.normal()).collect()
    }

    fn class(values: &[f64], better: Better) -> (SeriesShape, Option<usize>) {
        let s = steady_state(values, better);
        (s.class, s.start)
    }

    #[test]
    fn flat_series_are_flat() {
        let mut rng = Rng::new(21);
        let mut flat = [0, 0];
        for _ in 0..100 {
            for (i, n) in [50, 400].into_iter().enumerate() {
                let s = steady_state(&noise(n, 10.0, 0.2, &mut rng), Better::Lower);
                flat[i] += u32::from(s.class == SeriesShape::Flat && s.start == Some(0));
            }
        }
        // MSER-5 is no test, and sometimes takes the quiet second half for the steady part.
        assert!(flat[0] >= 75 && flat[1] >= 98, "{flat:?}");
        assert_eq!(class(&[5.0; 300], Better::Lower), (SeriesShape::Flat, Some(0)));
        assert_eq!(class(&[5.0; 30], Better::Lower), (SeriesShape::Flat, Some(0)));
    }

    #[test]
    fn finds_warmup_and_slowdown() {
        let mut rng = Rng::new(22);
        for n in [20, 120] {
            let mut v = noise(n, 15.0, 0.2, &mut rng);
            v.extend(noise(n * 3, 10.0, 0.2, &mut rng));
            for (better, want) in
                [(Better::Lower, SeriesShape::Warmup), (Better::Higher, SeriesShape::Slowdown)]
            {
                let (c, start) = class(&v, better);
                assert_eq!(c, want);
                assert!(start.unwrap().abs_diff(n) <= 5, "{n} {start:?}");
            }
        }
    }

    #[test]
    fn outliers_are_not_phases() {
        let mut rng = Rng::new(23);
        let mut v = noise(400, 10.0, 0.2, &mut rng);
        for i in [30, 31, 150, 377] {
            v[i] = 30.0;
        }
        assert_eq!(class(&v, Better::Lower), (SeriesShape::Flat, Some(0)));
    }

    #[test]
    fn what_does_not_settle() {
        let mut rng = Rng::new(24);
        let rising: Vec<f64> =
            (0..400).map(|i| 10.0 + f64::from(i) * 0.05 + 0.1 * rng.normal()).collect();
        assert_eq!(class(&rising, Better::Lower).0, SeriesShape::NoSteadyState);
        let mut late = noise(350, 10.0, 0.2, &mut rng);
        late.extend(noise(50, 14.0, 0.2, &mut rng));
        assert_eq!(class(&late, Better::Lower), (SeriesShape::NoSteadyState, None));
        let short: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(class(&short, Better::Lower).0, SeriesShape::NoSteadyState);
    }

    #[test]
    fn too_short_and_missing() {
        assert_eq!(class(&[1.0; 19], Better::Lower), (SeriesShape::TooShort, None));
        let mut v = vec![f64::NAN; 10];
        v.extend([1.0; 19]);
        assert_eq!(class(&v, Better::Lower), (SeriesShape::TooShort, None));
        let mut v = vec![f64::NAN; 7];
        v.extend([9.0; 30]);
        v.extend([3.0; 100]);
        assert_eq!(class(&v, Better::Lower), (SeriesShape::Warmup, Some(37)));
        assert_eq!(mser5(&[1.0; 5]), None);
    }

    #[test]
    fn long_series_are_grouped() {
        let mut rng = Rng::new(25);
        let mut v = noise(6000, 15.0, 0.5, &mut rng);
        v.extend(noise(24_000, 10.0, 0.5, &mut rng));
        let (c, start) = class(&v, Better::Lower);
        assert_eq!(c, SeriesShape::Warmup);
        assert!(start.unwrap().abs_diff(6000) <= 16, "{start:?}");
    }
}
