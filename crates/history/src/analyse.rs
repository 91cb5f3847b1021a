//! From the values of a series to its change points and slopes.

use assay_model::Interval;

use crate::change::{Analysis, ChangePoint, Slope, State};
use crate::detect::{Around, changes};
use crate::locate::{place, size};
use crate::slope::instead;

/// How many points [`append`] looks at.
pub const WINDOW: usize = 400;

/// A step whose place is known to fewer points than this is not tried as a slope.
const SHARP: usize = 2;

/// The changes and slopes of `values` in order. Values that are not finite must not be among them.
pub fn analyse(values: &[f64]) -> Analysis {
    let (found, around) = changes(values);
    let mut cuts: Vec<usize> = found.iter().map(|f| f.at).collect();
    let mut intervals = Vec::with_capacity(cuts.len());
    for i in 0..cuts.len() {
        let (from, to) = neighbours(&cuts, i, values.len());
        let placed = place(values, from, cuts[i], to, around);
        cuts[i] = placed.at;
        intervals.push(placed.interval);
    }
    let (slopes, kept) = slopes(values, &cuts, &intervals, around);
    let changes = kept
        .into_iter()
        .map(|i| {
            let (from, to) = neighbours(&cuts, i, values.len());
            let sized = size(&values[from..cuts[i]], &values[cuts[i]..to], around);
            let difference = sized.after - sized.before;
            ChangePoint {
                at: cuts[i],
                place: intervals[i],
                before: sized.before,
                after: sized.after,
                difference: Interval {
                    low: difference - sized.half_width,
                    high: difference + sized.half_width,
                    level: 0.95,
                },
                ratio: (sized.before > 0.0 && sized.after > 0.0)
                    .then(|| sized.after / sized.before),
                score: found[i].score,
                state: State::Suspected,
            }
        })
        .collect();
    Analysis { points: values.len(), sd: around.sd, correlation: around.rho, changes, slopes }
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

/// The analysis of `values` when those before the last point gave `before`: only the last [`WINDOW`]
/// points are looked at, so that one new point costs little whatever the length of the series. What lies
/// before the window stays as it was, also the states; a change found again keeps its state. Small changes
/// that only hundreds of points show are found by [`analyse`].
pub fn append(before: &Analysis, values: &[f64]) -> Analysis {
    let edge = values.len().saturating_sub(WINDOW);
    // The window starts at a change, so that no level is cut in two by it.
    let from = before
        .changes
        .iter()
        .map(|c| c.at)
        .chain(before.slopes.iter().map(|s| s.to))
        .filter(|at| *at >= edge && *at + WINDOW / 2 < values.len())
        .min()
        .unwrap_or(edge);
    let mut fresh = analyse(&values[from..]);
    for change in &mut fresh.changes {
        change.at += from;
        change.place = (change.place.0 + from, change.place.1 + from);
        let again = |old: &&ChangePoint| {
            old.at.abs_diff(change.at) <= 1 || (old.place.0..=old.place.1).contains(&change.at)
        };
        if let Some(old) = before.changes.iter().find(again) {
            change.state = old.state;
        }
    }
    for slope in &mut fresh.slopes {
        slope.from += from;
        slope.to += from;
    }
    let mut changes: Vec<ChangePoint> =
        before.changes.iter().filter(|c| c.at <= from).cloned().collect();
    changes.extend(fresh.changes.into_iter().filter(|c| c.at > from));
    let mut slopes: Vec<Slope> = before.slopes.iter().filter(|s| s.to <= from).cloned().collect();
    slopes.extend(fresh.slopes);
    Analysis { points: values.len(), sd: fresh.sd, correlation: fresh.correlation, changes, slopes }
}
