//! Finds places where most series of a file move at once. This indicates a cause in the machine or
//! the harness, not in a single series.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::series::ChangePoint;
use crate::series::detect::MIN_POINTS;
use crate::series::noise::{mad, median};

/// Minimum number of series with a point at the place.
const SERIES: usize = 5;
/// Minimum share of these series that move.
const MOST: f64 = 0.8;
/// Distance in standard deviations at which the last points of a series, too few for a change,
/// count as a move.
const FAR: f64 = 4.0;

/// A place where most series move in one direction.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CommonMove {
    /// Class of machine; `null` for imported series.
    pub machine: Option<String>,
    /// Time as given in the file, or the author date of the revision.
    pub time: String,
    /// Revision as given in the file.
    pub revision: String,
    /// Number of series that move.
    pub series: usize,
    /// Number of series with a point at this place.
    pub of: usize,
    /// Median of the ratios after / before.
    pub ratio: f64,
    /// Number of points since the move, if they are the last ones and too few for a change; `null`
    /// otherwise.
    pub last: Option<usize>,
}

/// Time and revision of a point.
type PointPlace<'s> = (&'s str, &'s str);

/// A series with its changes.
pub(crate) struct ChangedSeries<'s> {
    /// Places of the points.
    pub places: Vec<PointPlace<'s>>,
    /// Values of the points.
    pub values: Vec<f64>,
    /// True if all values are positive.
    pub relative: bool,
    /// Changes in the order of their places.
    pub changes: Vec<&'s ChangePoint>,
}

impl ChangedSeries<'_> {
    /// Returns true if a change may be at a place (95 %).
    fn may_be_at(&self, change: &ChangePoint, place: PointPlace<'_>) -> bool {
        self.places[change.place.0..=change.place.1].contains(&place)
    }

    /// Returns true if a change is part of a common move.
    pub fn is_part_of(&self, common: &CommonMove, change: &ChangePoint) -> bool {
        self.may_be_at(change, (&common.time, &common.revision))
            && change.ratio.is_some_and(|r| (r > 1.0) == (common.ratio > 1.0))
    }
}

/// Returns the places in order of time. Each change counts at one place: the one within its
/// interval at which most series change.
pub(crate) fn together(series: &[ChangedSeries<'_>]) -> Vec<CommonMove> {
    let mut open: Vec<(&ChangedSeries<'_>, &ChangePoint, f64)> = Vec::new();
    for s in series {
        open.extend(s.changes.iter().filter_map(|c| Some((s, *c, c.ratio?))));
    }
    let mut found = Vec::new();
    let candidates: BTreeSet<PointPlace<'_>> =
        open.iter().map(|(s, c, _)| s.places[c.at]).collect();
    let count = |at: PointPlace<'_>| {
        let may_be = open.iter().filter(|(s, c, _)| s.may_be_at(c, at)).count();
        (may_be, open.iter().filter(|(s, c, _)| s.places[c.at] == at).count())
    };
    let mut ordered: Vec<((usize, usize), PointPlace<'_>)> =
        candidates.into_iter().map(|at| (count(at), at)).collect();
    ordered.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    for (_, at) in ordered {
        let here = open.iter().filter(|(s, c, _)| s.may_be_at(c, at));
        let of = series.iter().filter(|s| s.places.contains(&at)).count();
        if let Some(common) = most(at, here.map(|(.., ratio)| *ratio).collect(), of, None) {
            open.retain(|(s, c, _)| !s.is_part_of(&common, c));
            found.push(common);
        }
    }
    let longest = series.iter().max_by_key(|s| s.places.len());
    let index = |m: &CommonMove| {
        longest?.places.iter().position(|p| *p == (m.time.as_str(), m.revision.as_str()))
    };
    found.sort_by_key(index);
    found.extend([2, 1].into_iter().find_map(|last| at_end(series, last)));
    found
}

/// Examines the last points of the series if they are too few for a change.
fn at_end(all: &[ChangedSeries<'_>], last: usize) -> Option<CommonMove> {
    let newest = all.iter().max_by_key(|s| s.places.len())?.places.iter().rev();
    let at = newest.take(last).copied().collect::<Vec<_>>();
    let (mut ratios, mut of) = (Vec::new(), 0);
    for series in all {
        let ends_there = series.places.iter().rev().take(last).eq(&at);
        let from = series.changes.last().map_or(0, |c| c.at);
        let to = series.places.len().saturating_sub(last);
        if !ends_there || !series.relative || to < from + MIN_POINTS {
            continue;
        }
        of += 1;
        let logs: Vec<f64> = series.values[from..].iter().map(|v| v.ln()).collect();
        let (before, after) = logs.split_at(to - from);
        let level = median(before);
        let far = FAR * mad(before, level);
        let is_one_side =
            after.iter().all(|v| v - level > far) || after.iter().all(|v| level - v > far);
        if is_one_side {
            ratios.push((median(after) - level).exp());
        }
    }
    most(*at.last()?, ratios, of, Some(last))
}

/// Returns the place if most of the `of` series move in one direction there.
fn most(
    (time, revision): PointPlace<'_>,
    ratios: Vec<f64>,
    of: usize,
    last: Option<usize>,
) -> Option<CommonMove> {
    let (up, down): (Vec<f64>, Vec<f64>) = ratios.into_iter().partition(|r| *r > 1.0);
    let side = if up.len() > down.len() { up } else { down };
    let series = side.len();
    let enough = of >= SERIES && series as f64 >= MOST * of as f64;
    enough.then(|| CommonMove {
        machine: None,
        time: time.to_owned(),
        revision: revision.to_owned(),
        series,
        of,
        ratio: median(&side),
        last,
    })
}

#[cfg(test)]
mod tests {
    use crate::rng::Rng;

    use crate::series::quoted::{ImportedSeries, QuotedPoint, QuotedSeries, quoted};

    /// Returns `count` series of 40 points with 1 % of noise. In the first `raised` series, the
    /// last `points` points are a fifth higher.
    fn file(count: usize, raised: usize, points: usize) -> ImportedSeries {
        let mut rng = Rng::new(5);
        let series = (0..count).map(|s| QuotedSeries {
            name: format!("s{s}"),
            unit: String::new(),
            points: (0..40)
                .map(|i| {
                    let step = if s < raised && i >= 40 - points { 1.2 } else { 1.0 };
                    QuotedPoint {
                        time: format!("day {i}"),
                        revision: format!("r{i}"),
                        value: step * (0.01 * rng.normal()).exp(),
                    }
                })
                .collect(),
        });
        let series = series.collect();
        ImportedSeries {
            schema_version: 1,
            file: "f".into(),
            sha256: String::new(),
            series,
            excluded: 0,
        }
    }

    #[test]
    fn what_most_series_do_is_one_statement() {
        for points in [1, 2, 3, 8] {
            let [found] = &quoted(&file(30, 30, points)).together[..] else { panic!("{points}") };
            assert!(found.series >= 24 && found.of == 30, "{found:?}");
            assert_eq!(
                (found.revision.as_str(), found.last),
                (&*format!("r{}", 40 - points), (points < 3).then_some(points))
            );
            assert!((1.15..1.25).contains(&found.ratio), "{found:?}");
        }
        for (count, raised, points) in [(30, 1, 8), (30, 0, 2), (30, 15, 2), (4, 4, 2)] {
            let none = quoted(&file(count, raised, points)).together;
            assert!(none.is_empty(), "{raised} of {count}: {none:?}");
        }
        assert_eq!(quoted(&file(30, 1, 8)).series[0].changes.len(), 1);
    }
}
