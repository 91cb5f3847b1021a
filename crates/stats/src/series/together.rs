//! Finds places where most series of a file move at once. This indicates a cause in the machine or
//! the harness, not in a single series.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::series::detect::MIN_POINTS;
use crate::series::noise::{mad, median};
use crate::series::quoted::{QuotedPoint, QuotedSeries, QuotedSeriesView};

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
    /// Time as given in the file.
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

fn place(point: &QuotedPoint) -> PointPlace<'_> {
    (&point.time, &point.revision)
}

/// Returns the places in order of time; `shown` are the analyses of `series`.
pub(crate) fn together(series: &[QuotedSeries], shown: &[QuotedSeriesView]) -> Vec<CommonMove> {
    // Collect the ratios of the changes at each place.
    let mut moves: BTreeMap<PointPlace<'_>, Vec<f64>> = BTreeMap::new();
    for (series, shown) in series.iter().zip(shown) {
        for change in &shown.changes {
            if let Some(ratio) = change.change.ratio {
                moves.entry(place(&series.points[change.change.at])).or_default().push(ratio);
            }
        }
    }
    let mut of: BTreeMap<PointPlace<'_>, usize> = BTreeMap::new();
    for series in series {
        let places: BTreeSet<_> = series.points.iter().map(place).collect();
        for at in places.into_iter().filter(|at| moves.contains_key(at)) {
            *of.entry(at).or_default() += 1;
        }
    }
    let mut found: Vec<CommonMove> =
        moves.into_iter().filter_map(|(at, ratios)| most(at, ratios, of[&at], None)).collect();
    found.extend([2, 1].into_iter().find_map(|last| at_end(series, shown, last)));
    found
}

/// Examines the last points of the series if they are too few for a change.
fn at_end(series: &[QuotedSeries], shown: &[QuotedSeriesView], last: usize) -> Option<CommonMove> {
    let newest = series.iter().max_by_key(|s| s.points.len())?.points.iter().rev();
    let at = newest.take(last).map(place).collect::<Vec<_>>();
    let (mut ratios, mut of) = (Vec::new(), 0);
    for (series, shown) in series.iter().zip(shown) {
        let ends_there = series.points.iter().rev().take(last).map(place).eq(at.iter().copied());
        let from = shown.changes.last().map_or(0, |c| c.change.at);
        let to = series.points.len().saturating_sub(last);
        if !ends_there || !shown.relative || to < from + MIN_POINTS {
            continue;
        }
        of += 1;
        let logs: Vec<f64> = series.points[from..].iter().map(|p| p.value.ln()).collect();
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

    use super::*;
    use crate::series::quoted::{ImportedSeries, quoted};

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
