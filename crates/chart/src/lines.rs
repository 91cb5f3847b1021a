//! Time series with the phases of the trial: disk, pressure, memory.

use maud::{Markup, html};

use crate::axes::axis::Axis;
use crate::axes::frame::{Head, WIDTH};
use crate::axes::legend::{KeyKind, LegendKey};
use crate::axes::mark::{Focus, line_class, mark, shape};
use crate::axes::reach::ScaleRanges;
use crate::axes::reduce::{means, spread, stretches};
use crate::axes::scale::extent;
use crate::axes::ticks::short;
use crate::axes::timeline::{PhaseSpan, Timeline};

/// One line of the chart.
#[derive(Debug, Clone, PartialEq)]
pub struct LineSeries {
    /// Name in the legend.
    pub label: String,
    /// Points `(seconds from the trial's start, value)`; NaN values are gaps.
    pub points: Vec<(f64, f64)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LineChart {
    pub head: Head,
    /// Name of the observed object: `disk vda`.
    pub name: String,
    /// Unit of every series.
    pub unit: String,
    pub series: Vec<LineSeries>,
    pub phases: Vec<PhaseSpan>,
    /// Note about the samples.
    pub note: String,
}

const PLOT_HEIGHT: f64 = 160.0;
const MAX_POINTS: usize = 300;

impl LineChart {
    /// Returns the ranges that the chart's own data need.
    pub fn reach(&self) -> ScaleRanges {
        let points = || self.series.iter().flat_map(|s| &s.points);
        let ends = self.phases.iter().flat_map(|p| [p.from_s, p.to_s]);
        let time_s = extent(points().map(|p| p.0).chain(ends));
        ScaleRanges { time_s, values: extent(points().map(|p| p.1)), most: 0 }
    }
}

/// Draws the chart on a zero-based axis. A series of more than 300 points is drawn as the mean of
/// each stretch with a band from its smallest to its largest value.
pub fn render(chart: &LineChart) -> Markup {
    render_over(chart, ScaleRanges::default(), WIDTH)
}

/// Like [`render`], with this width and on scales that also cover `reach`.
pub fn render_over(chart: &LineChart, reach: ScaleRanges, width: f64) -> Markup {
    let reach = reach.join(chart.reach());
    let (low, high) = reach.values.unwrap_or((0.0, 1.0));
    let high = if high > 0.0 { high } else { 1.0 };
    let y_axis = Axis::linear((low.min(0.0), high), &chart.unit);
    let keys = LegendKey::numbered(chart.series.iter().map(|s| s.label.as_str()), KeyKind::Line);
    let moments = reach.time_s.into_iter().flat_map(|(from, to)| [from, to]);
    let plot = Timeline::new(width, moments, &chart.phases, y_axis, &keys, PLOT_HEIGHT);
    let (x, y) = (&plot.x, &plot.y);
    let body = html! {
        (plot.ground(&chart.name, &chart.note))
        (plot.axes())
        @for (i, s) in chart.series.iter().enumerate() {
            @let reduced = stretches(&s.points, MAX_POINTS);
            g class={ "series " (line_class(i)) } data-series=(i) data-label=(s.label) {
                @if s.points.len() > MAX_POINTS {
                    (spread(&reduced, x, y))
                }
                (means(&reduced, x, y))
                @for (k, r) in reduced.iter().enumerate() {
                    @if let Some(at) = x.at(r.x).zip(y.at(r.mean)) {
                        @let value = short(r.mean, &chart.unit);
                        @let label = format!("{}: {value} at {:.2} s", s.label, r.x);
                        (mark("", &shape(i, at, 1.8), at, &label, Focus::nth(k, reduced.len())))
                    }
                }
            }
        }
    };
    plot.svg(&chart.head, "lines", &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_as_drawn_before() {
        let chart = LineChart {
            head: Head { id: "disk".into(), title: "Disk".into(), desc: "d".into() },
            name: "vda".into(),
            unit: "kB/s".into(),
            series: vec![
                LineSeries {
                    label: "rkB/s".into(),
                    points: vec![(1.0, 10.0), (2.0, f64::NAN), (3.0, 30.0)],
                },
                LineSeries { label: "wkB/s".into(), points: vec![] },
            ],
            phases: vec![PhaseSpan { name: "steady".into(), from_s: 0.5, to_s: 3.0 }],
            note: String::new(),
        };
        let svg = render(&chart).into_string();
        assert!(!svg.contains("NaN"));
        insta::assert_snapshot!(svg.replace("><", ">\n<"));
    }
}
