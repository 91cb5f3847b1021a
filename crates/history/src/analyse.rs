//! From the values of a series to its change points and slopes.

use assay_model::Interval;
use assay_stats::distribution::normal_quantile;

use crate::change::{Analysis, ChangePoint, Slope, State};
use crate::detect::{Around, Changes, MIN_POINTS, OWN, changes};
use crate::limit::visible;
use crate::locate::{place, size};
use crate::slope::instead;

/// A step whose place is known to fewer points than this is not tried as a slope.
const SHARP: usize = 2;

/// The changes and slopes of `values` in order. Values that are not finite must not be among them.
pub fn analyse(values: &[f64]) -> Analysis {
    analyse_with(values, &[])
}

/// As [`analyse`], with the standard error of the natural logarithm of each value, where it is known: a change exceeds
/// these, too. `errors` is empty or as long as `values`.
pub fn analyse_with(values: &[f64], errors: &[Option<f64>]) -> Analysis {
    // Noise of what is positive goes with its level.
    let relative = values.iter().all(|v| *v > 0.0);
    let scaled: Vec<f64> = values.iter().map(|v| if relative { v.ln() } else { *v }).collect();
    let back = |v: f64| if relative { v.exp() } else { v };
    let errors = if relative { errors } else { &[] };
    let Changes { found, around, unit } = changes(&scaled, errors);
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
            // Of logarithms, the interval of the ratio of the levels.
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
                state: State::Suspected,
            }
        })
        .collect();
    Analysis {
        points: values.len(),
        relative,
        sd: around.sd,
        visible: seen(values.len(), unit, errors, relative),
        correlation: around.rho,
        changes,
        slopes,
    }
}

/// The step in the middle that so many points of this noise show, and their own `errors`, relative to the level or in the
/// series' unit. Of fewer points than a step takes, what so many of the same noise would show.
fn seen(points: usize, unit: f64, errors: &[Option<f64>], relative: bool) -> Option<f64> {
    if points < 2 {
        return None;
    }
    let points = points.max(MIN_POINTS);
    let known: Vec<f64> = errors.iter().flatten().map(|e| e * e).collect();
    let own = (known.iter().sum::<f64>() / known.len().max(1) as f64).sqrt();
    // Each half has the error own/√(points/2).
    let step = (visible(points) * unit)
        .max((OWN + normal_quantile(0.95)) * own * 2.0 / (points as f64).sqrt());
    Some(if relative { step.exp_m1() } else { step })
}

/// The part before and after cut `i`.
fn neighbours(cuts: &[usize], i: usize, n: usize) -> (usize, usize) {
    (if i == 0 { 0 } else { cuts[i - 1] }, cuts.get(i + 1).copied().unwrap_or(n))
}

/// Slopes, and which of the cuts remain steps. Neighbouring cuts in one direction are tried together,
/// then what is left of them when the first and the last are steps of their own.
fn slopes(
    values: &[f64],
    cuts: &[usize],
    places: &[(usize, usize)],
    around: Around,
) -> (Vec<Slope>, Vec<usize>) {
    let mut ends = vec![0];
    ends.extend_from_slice(cuts);
    ends.push(values.len());
    let level: Vec<f64> =
        ends.windows(2).map(|e| crate::noise::centre(&values[e[0]..e[1]], around.sd)).collect();
    let up = |i: usize| level[i + 1] > level[i];
    let (mut out, mut kept) = (Vec::new(), Vec::new());
    let mut first = 0;
    while first < cuts.len() {
        let mut last = first;
        while last + 1 < cuts.len() && up(last + 1) == up(first) {
            last += 1;
        }
        // The longest stretch from `first` that a line explains better.
        let hit = (first..=last).rev().find_map(|end| {
            // What is known to a few points is no slope.
            if end == first && places[first].1 - places[first].0 < SHARP {
                return None;
            }
            let (from, to) = (ends[first], ends[end + 2]);
            let inside: Vec<usize> = cuts[first..=end].iter().map(|c| c - from).collect();
            instead(&values[from..to], &inside, around).map(|r| (end, from, r))
        });
        if let Some((end, from, ramp)) = hit {
            out.push(Slope {
                from: from + ramp.from,
                to: from + ramp.to,
                before: ramp.before,
                after: ramp.after,
            });
            first = end + 1;
        } else {
            kept.push(first);
            first += 1;
        }
    }
    (out, kept)
}
