//! Computes change points and slopes from the values of a series.

use crate::distribution::normal_quantile;
use assay_model::Interval;

use crate::series::change_point::{ChangePoint, ChangeState, SeriesAnalysis, Slope};
use crate::series::detect::{Changes, LevelNoise, MIN_POINTS, changes, own_limit};
use crate::series::limit::visible;
use crate::series::locate::{place, size};
use crate::series::slope::find_slope;

/// Minimum width of a step's place interval, in points, for trying a slope instead.
const SHARP: usize = 2;

/// Returns the changes and slopes of `values` in order. All values must be finite.
pub fn analyse(values: &[f64]) -> SeriesAnalysis {
    analyse_with(values, &[])
}

/// Like [`analyse`], with the standard error of the natural logarithm of each value, where known. A
/// change must exceed these errors, too. `errors` is empty or as long as `values`.
pub fn analyse_with(values: &[f64], errors: &[Option<f64>]) -> SeriesAnalysis {
    analyse_family(values, errors, 1)
}

/// Like [`analyse_with`], for one of `family` series that are judged together: the limits of a
/// change are raised so that the rate of false alarms is that of the family (Bonferroni).
pub fn analyse_family(values: &[f64], errors: &[Option<f64>], family: usize) -> SeriesAnalysis {
    // The noise of positive values scales with their level, so logarithms are analysed.
    let relative = values.iter().all(|v| *v > 0.0);
    let scaled: Vec<f64> = values.iter().map(|v| if relative { v.ln() } else { *v }).collect();
    let back = |v: f64| if relative { v.exp() } else { v };
    let errors = if relative { errors } else { &[] };
    let Changes { found, around, unit } = changes(&scaled, errors, family);
    let mut cuts: Vec<usize> = found.iter().map(|f| f.at).collect();
    let mut intervals = Vec::with_capacity(cuts.len());
    for i in 0..cuts.len() {
        let (from, to) = neighbours(&cuts, i, values.len());
        let placed = place(&scaled, from, cuts[i], to, around);
        cuts[i] = placed.at;
        intervals.push(placed.interval);
    }
    let (mut slopes, kept) = slopes(&scaled, &cuts, &intervals, around);
    for slope in &mut slopes {
        (slope.before, slope.after) = (back(slope.before), back(slope.after));
    }
    let changes = kept
        .into_iter()
        .map(|i| {
            let (from, to) = neighbours(&cuts, i, values.len());
            let sized = size(&scaled[from..cuts[i]], &scaled[cuts[i]..to], around);
            let (before, after) = (back(sized.before), back(sized.after));
            // For logarithms, this gives the interval of the ratio of the levels.
            let bound = |away: f64| {
                let difference = sized.after - sized.before + away;
                if relative { before * difference.exp_m1() } else { difference }
            };
            let (low, high) = (bound(-sized.half_width), bound(sized.half_width));
            ChangePoint {
                at: cuts[i],
                place: intervals[i],
                before,
                after,
                difference: Interval { low, high, level: 0.95 },
                ratio: (before > 0.0 && after > 0.0).then(|| after / before),
                score: found[i].score,
                state: ChangeState::Suspected,
            }
        })
        .collect();
    SeriesAnalysis {
        points: values.len(),
        relative,
        sd: around.sd,
        visible: seen(values.len(), unit, errors, relative, family),
        correlation: around.rho,
        changes,
        slopes,
    }
}

/// Returns the step in the middle that a series of this length and noise would show, given its
/// points' own `errors`. It is relative to the level or in the series' unit. For fewer points than
/// a step needs, it is the step that the minimum number of points would show.
fn seen(
    points: usize,
    unit: f64,
    errors: &[Option<f64>],
    relative: bool,
    family: usize,
) -> Option<f64> {
    if points < 2 {
        return None;
    }
    let points = points.max(MIN_POINTS);
    let known: Vec<f64> = errors.iter().flatten().map(|e| e * e).collect();
    let own = (known.iter().sum::<f64>() / known.len().max(1) as f64).sqrt();
    // The mean of each half has the standard error own/√(points/2).
    let step = (visible(points, family) * unit)
        .max((own_limit(family) + normal_quantile(0.95)) * own * 2.0 / (points as f64).sqrt());
    Some(if relative { step.exp_m1() } else { step })
}

/// Returns the start of the part before cut `i` and the end of the part after it.
fn neighbours(cuts: &[usize], i: usize, n: usize) -> (usize, usize) {
    (if i == 0 { 0 } else { cuts[i - 1] }, cuts.get(i + 1).copied().unwrap_or(n))
}

/// Finds slopes and returns the indices of the cuts that remain steps. Neighbouring cuts in the
/// same direction are first tried together as one slope, then in shorter stretches; a cut that fits
/// no slope is kept as a step.
fn slopes(
    values: &[f64],
    cuts: &[usize],
    places: &[(usize, usize)],
    around: LevelNoise,
) -> (Vec<Slope>, Vec<usize>) {
    let mut ends = vec![0];
    ends.extend_from_slice(cuts);
    ends.push(values.len());
    let level: Vec<f64> = ends
        .windows(2)
        .map(|e| crate::series::noise::centre(&values[e[0]..e[1]], around.sd))
        .collect();
    let up = |i: usize| level[i + 1] > level[i];
    let (mut out, mut kept) = (Vec::new(), Vec::new());
    let mut first = 0;
    while first < cuts.len() {
        let mut last = first;
        while last + 1 < cuts.len() && up(last + 1) == up(first) {
            last += 1;
        }
        // Find the longest stretch from `first` that a line explains better than steps.
        let hit = (first..=last).rev().find_map(|end| {
            // A change located to within a few points is not a slope.
            if end == first && places[first].1 - places[first].0 < SHARP {
                return None;
            }
            let (from, to) = (ends[first], ends[end + 2]);
            let inside: Vec<usize> = cuts[first..=end].iter().map(|c| c - from).collect();
            find_slope(&values[from..to], &inside, around).map(|r| (end, from, r))
        });
        if let Some((end, from, ramp)) = hit {
            out.push(Slope { from: from + ramp.from, to: from + ramp.to, ..ramp });
            first = end + 1;
        } else {
            kept.push(first);
            first += 1;
        }
    }
    (out, kept)
}
