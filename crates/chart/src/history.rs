//! History of a metric over revisions: points with intervals, the detected levels, and the changes
//! between them; as a large chart, or small for a page of many.

use assay_model::Better;
use maud::{Markup, html};

use crate::axes::axis::{Axis, direction, heading, noted};
use crate::axes::frame::{
    Head, NARROW, PlotArea, WIDTH, crosshair, fit, label, line, path, svg_spanned,
};
use crate::axes::labels::rows;
use crate::axes::mark::{Focus, link, shape};
use crate::axes::reduce::{MAX_MARKS, aggregated};
use crate::axes::scale::{Scale, extent};

/// One revision of the history.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryPoint {
    pub value: f64,
    /// Lower end of the interval; NaN without one.
    pub low: f64,
    /// Upper end of the interval; NaN without one.
    pub high: f64,
    /// Text shown when the point is hovered or focused.
    pub label: String,
    /// Target of the point's link; empty for no link.
    pub href: String,
}

/// A change of the level.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelChange {
    /// Index of the first point of the new level.
    pub at: usize,
    /// Level before the change.
    pub before: f64,
    /// Level after the change.
    pub after: f64,
    /// Label above the change, such as `confirmed`.
    pub label: String,
    /// True if the change needs attention now.
    pub alarm: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct HistoryChart {
    pub head: Head,
    /// Name of the metric.
    pub name: String,
    /// Unit of the values.
    pub unit: String,
    /// Direction in which the metric improves.
    pub better: Better,
    /// Revisions in their order.
    pub points: Vec<HistoryPoint>,
    /// Changes, ordered by index.
    pub changes: Vec<LevelChange>,
    /// Note for the reader: `whiskers: 95 % intervals`.
    pub note: String,
}

const PLOT_HEIGHT: f64 = 260.0;
const SMALL_HEIGHT: f64 = 70.0;

/// Returns the range of the y axis. The axis does not start at zero, so that a change of one
/// percent is visible; intervals that are much wider than the range of the values are cut. If no
/// value is negative, as for ratios and times, the axis does not extend below zero.
fn domain(chart: &HistoryChart) -> (f64, f64) {
    let values = chart.points.iter().map(|p| p.value);
    let Some((low, high)) = extent(values) else { return (0.0, 1.0) };
    let span = (high - low).max(high.abs() * 0.01);
    let ends = chart.points.iter().flat_map(|p| [p.low, p.high]);
    let (least, most) = extent(ends.chain([low, high])).unwrap_or((low, high));
    let from = least.max(low - span) - 0.04 * span;
    (if least >= 0.0 { from.max(0.0) } else { from }, most.min(high + span) + 0.04 * span)
}

/// Returns index and value of each point.
fn positions(chart: &HistoryChart) -> Vec<(f64, f64)> {
    chart.points.iter().enumerate().map(|(i, p)| (i as f64, p.value)).collect()
}

/// Draws the levels between the changes as lines.
fn levels(chart: &HistoryChart, x: &Scale, y: &Scale) -> Markup {
    let n = chart.points.len();
    let mut ends: Vec<(usize, usize, f64)> = Vec::new();
    for (i, c) in chart.changes.iter().enumerate() {
        if i == 0 {
            ends.push((0, c.at, c.before));
        }
        let next = chart.changes.get(i + 1).map_or(n, |next| next.at);
        ends.push((c.at, next, c.after));
    }
    html! {
        @for (from, to, level) in ends {
            path.level d=(path([from as f64 - 0.5, to as f64 - 0.5].into_iter().map(|at| {
                Some((x.clamped(at)?, y.clamped(level)?))
            }))) {}
        }
    }
}

pub fn render(chart: &HistoryChart) -> Markup {
    let n = chart.points.len();
    let y_axis = Axis::linear(domain(chart), &chart.unit);
    let x_axis = Axis::counts((0.5, n as f64 + 0.5));
    let left = y_axis.label_room();
    let right = WIDTH - 14.0;
    // Indices count from 0, the axis from 1.
    let x = Axis::counts((-0.5, n as f64 - 0.5)).scale(left, right);
    let words: Vec<(f64, &str)> = chart
        .changes
        .iter()
        .map(|c| (x.at(c.at as f64 - 0.5).unwrap_or(left), c.label.as_str()))
        .collect();
    let placed = rows(&words, left, right);
    let mark_rows = placed.iter().map(|p| p.0 + 1).max().unwrap_or(0) as f64;
    let top = 36.0 + mark_rows * 15.0;
    let inner = PlotArea::plot(WIDTH, left, top, PLOT_HEIGHT);
    let y = y_axis.scale(inner.bottom, inner.top);
    let (from, to) = y_axis.domain;
    let cut = chart.points.iter().any(|p| p.low < from || p.high > to);
    let note_text = if cut {
        format!("{}; longer ones are cut at the edge of the chart", chart.note)
    } else {
        chart.note.clone()
    };
    let body = html! {
        (heading(WIDTH, &y_axis.title(&chart.name), &direction(chart.better)))
        (y_axis.vertical(&inner))
        (x_axis.horizontal(&inner, "revision, in the order of the range"))
        g.verticals {
            @for (((at, words), (row, start)), c) in words.iter().zip(&placed).zip(&chart.changes) {
                @let base = top - 6.0 - *row as f64 * 15.0;
                @let class = if c.alarm { "alarm" } else { "" };
                (line(class, (*at, base + 3.0), (*at, inner.bottom)))
                (label(class, (*start, base), &fit(words, right - left)))
            }
        }
        (crosshair(&inner))
        (levels(chart, &x, &y))
        g.series.s0 data-series="0" {
            @if n > MAX_MARKS {
                (aggregated(&positions(chart), 600, &x, &y))
            } @else {
                @for (i, p) in chart.points.iter().enumerate() {
                    @if let Some(at) = x.at(i as f64).zip(y.at(p.value)) {
                        @if let (Some(low), Some(high)) = (y.clamped(p.low), y.clamped(p.high)) {
                            @let ends = [low, high].map(|end| Some((at.0, end)));
                            path.whisker d=(path(ends.into_iter())) {}
                        }
                        @let d = shape(0, at, if n > 150 { 2.5 } else { 4.0 });
                        (link("", &d, at, &p.label, Focus::nth(i, n), &p.href))
                    }
                }
            }
        }
    };
    noted(&chart.head, "history", inner.bottom, &note_text, &body)
}

/// Draws a small version: the line of the values, the levels and the changes, without axes or
/// labels; title and description contain the text.
pub fn small(chart: &HistoryChart) -> Markup {
    let n = chart.points.len();
    let x = Axis::counts((-0.5, n as f64 - 0.5)).scale(4.0, NARROW - 4.0);
    let y = Axis::exact(domain(chart), "").scale(SMALL_HEIGHT - 4.0, 4.0);
    let points = positions(chart);
    let body = html! {
        g.verticals { @for c in &chart.changes {
            @if let Some(at) = x.at(c.at as f64 - 0.5) {
                @let class = if c.alarm { "alarm" } else { "" };
                (line(class, (at, 2.0), (at, SMALL_HEIGHT - 2.0)))
            }
        } }
        (levels(chart, &x, &y))
        g.s0 {
            @if n > MAX_MARKS { (aggregated(&points, 300, &x, &y)) }
            @else {
                path.line d=(path(points.iter().map(|p| Some((x.at(p.0)?, y.at(p.1)?))))) {}
                @for p in points.iter().filter(|_| n <= 60) {
                    @if let Some(at) = x.at(p.0).zip(y.at(p.1)) {
                        path.key-mark d=(shape(0, at, 2.2)) {}
                    }
                }
            }
        }
    };
    svg_spanned(NARROW, &chart.head, "history small", SMALL_HEIGHT, None, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(n: usize) -> HistoryChart {
        let value = |i: usize| if i < n / 2 { 1.0 } else { 1.05 } + (i % 3) as f64 * 0.002;
        HistoryChart {
            head: Head { id: "h".into(), title: "Ratio <to> v1".into(), desc: "d".into() },
            name: "ratio to v1".into(),
            unit: String::new(),
            better: Better::Lower,
            points: (0..n)
                .map(|i| HistoryPoint {
                    value: value(i),
                    low: value(i) * 0.99,
                    high: if i == 1 { f64::NAN } else { value(i) * 1.01 },
                    label: format!("c{i}"),
                    href: if i == 2 { String::new() } else { format!("/runs/{i}") },
                })
                .collect(),
            changes: vec![LevelChange {
                at: n / 2,
                before: 1.002,
                after: 1.052,
                label: "confirmed".into(),
                alarm: true,
            }],
            note: "whiskers: 95 % intervals".into(),
        }
    }

    #[test]
    fn every_point_leads_to_its_run_and_has_its_interval_where_there_is_one() {
        let svg = render(&chart(6)).into_string();
        assert_eq!(
            svg.matches("<a class=\"m\" href=\"/runs/").count(),
            5,
            "one leads nowhere: {svg}"
        );
        assert_eq!(svg.matches("data-cx=").count(), 6, "{svg}");
        assert_eq!(svg.matches("class=\"whisker\"").count(), 5, "one has no interval: {svg}");
        assert_eq!(
            svg.matches("class=\"level\"").count(),
            2,
            "before the change and after it: {svg}"
        );
        assert_eq!(svg.matches("class=\"alarm\"").count(), 2, "a line and its word: {svg}");
        assert!(svg.contains("Ratio &lt;to&gt; v1") && !svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn small_has_the_line_the_levels_and_the_changes_and_leads_nowhere() {
        let svg = small(&chart(6)).into_string();
        assert_eq!(svg.matches("class=\"line\"").count(), 1, "{svg}");
        assert_eq!(svg.matches("class=\"level\"").count(), 2, "{svg}");
        assert_eq!(svg.matches("class=\"alarm\"").count(), 1, "{svg}");
        assert!(!svg.contains("href=") && !svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn no_room_is_shown_below_zero_where_nothing_is_negative() {
        let mut ratios = chart(4);
        for (p, value) in ratios.points.iter_mut().zip([0.1, 3.0, 1.0, 2.0]) {
            (p.value, p.low, p.high) = (value, value * 0.5, value * 9.0);
        }
        assert_eq!(domain(&ratios).0, 0.0);
        ratios.points[0].low = -0.5;
        assert!(domain(&ratios).0 < -0.5);
    }

    #[test]
    fn none_one_and_very_many_points_are_drawn() {
        for n in [0, 1] {
            let mut few = chart(2);
            few.points.truncate(n);
            few.changes.clear();
            for svg in [render(&few), small(&few)] {
                let svg = svg.into_string();
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
        assert!(render(&chart(12_000)).into_string().len() < 100_000);
        assert!(small(&chart(12_000)).into_string().len() < 100_000);
    }

    #[test]
    fn a_wild_interval_does_not_flatten_the_values() {
        let mut wild = chart(6);
        wild.points[3].high = 400.0;
        assert!(domain(&wild).1 < 1.2, "{:?}", domain(&wild));
        let cut = |c: &HistoryChart| render(c).into_string().contains("are cut");
        assert!(cut(&wild) && !cut(&chart(6)), "and the note states it");
    }
}
