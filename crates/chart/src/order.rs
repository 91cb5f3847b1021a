//! Values in the order of measurement: only this chart shows drift, warm-up and outlying trials.

use assay_model::Better;
use maud::{Markup, html};

use crate::axes::axis::{Axis, direction, heading, noted};
use crate::axes::frame::{Head, PlotArea, WIDTH, crosshair, px};
use crate::axes::legend::{KeyKind, LegendKey, legend};
use crate::axes::mark::{Focus, link, series_class, shape};
use crate::axes::reduce::{MAX_MARKS, aggregated};
use crate::axes::scale::{Scale, extent};

/// Status of a trial in the chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialStatus {
    /// The trial's value counts.
    Counted,
    /// A warm-up, which is recorded but never compared.
    WarmUp,
    /// The trial failed or does not count: drawn as a cross at the bottom, whatever its value.
    Failed,
}

/// One trial of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// Number in the order of execution.
    pub number: u32,
    /// Value; NaN when missing.
    pub value: f64,
    /// Index of the trial's series.
    pub series: usize,
    pub status: TrialStatus,
    /// Text shown when the mark is hovered.
    pub label: String,
    /// Link to the trial's description; empty for no link.
    pub href: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunOrder {
    pub head: Head,
    pub name: String,
    pub unit: String,
    /// Direction in which the metric improves.
    pub better: Better,
    /// Names of the series, one for each treatment.
    pub series: Vec<String>,
    /// Trials, ordered by number.
    pub dots: Vec<Dot>,
    /// Note for the reader: `hollow: warm-up; ×: failed`.
    pub note: String,
}

const PLOT_HEIGHT: f64 = 220.0;

/// Draws the chart. The y axis covers the range of the values and does not start at zero, so that a
/// drift of one percent is visible.
pub fn render(chart: &RunOrder) -> Markup {
    let values = chart.dots.iter().filter(|d| d.status != TrialStatus::Failed).map(|d| d.value);
    let (low, high) = extent(values).unwrap_or((0.0, 1.0));
    let pad = ((high - low) * 0.06).max(high.abs() * 1e-6);
    let y_axis = Axis::linear((low - pad, high + pad), &chart.unit);
    let numbers = extent(chart.dots.iter().map(|d| f64::from(d.number))).unwrap_or((1.0, 2.0));
    let x_axis = Axis::counts((numbers.0 - 0.5, numbers.1 + 0.5));
    let keys = LegendKey::numbered(chart.series.iter().map(String::as_str), KeyKind::Mark);
    let (legend, legend_height) = legend(WIDTH, &keys);
    let inner = PlotArea::plot(WIDTH, y_axis.label_room(), 36.0 + legend_height, PLOT_HEIGHT);
    let x = x_axis.scale(inner.left, inner.right);
    let y = y_axis.scale(inner.bottom - 12.0, inner.top);
    let plot = PlotArea { bottom: inner.bottom - 12.0, ..inner };
    let n = chart.dots.len();
    let body = html! {
        (heading(WIDTH, &y_axis.title(&chart.name), &direction(chart.better)))
        (legend)
        (y_axis.vertical(&plot))
        (x_axis.horizontal(&inner, "trial, in the order of execution"))
        (crosshair(&inner))
        @for i in 0..chart.series.len() {
            g class={ "series " (series_class(i)) } data-series=(i) data-label=(chart.series[i]) {
                @if n > MAX_MARKS { (crowd(chart, i, &x, &y)) }
                @let marked = |d: &Dot| n <= MAX_MARKS || d.status == TrialStatus::Failed;
                @let dots = chart.dots.iter().enumerate();
                @for (k, dot) in dots.filter(|(_, d)| d.series == i && marked(d)).take(MAX_MARKS) {
                    (draw(dot, Focus::nth(k, n), &x, &y, inner.bottom - 6.0))
                }
            }
        }
    };
    noted(&chart.head, "order", inner.bottom, &chart.note, &body)
}

fn draw(dot: &Dot, focus: Focus, x: &Scale, y: &Scale, foot: f64) -> Markup {
    let Some(at) = x.at(f64::from(dot.number)) else { return html! {} };
    let (class, place) = match dot.status {
        TrialStatus::Failed => ("failed", Some(foot)),
        TrialStatus::Counted => ("", y.at(dot.value)),
        TrialStatus::WarmUp => ("hollow", y.at(dot.value)),
    };
    let Some(to) = place else { return html! {} };
    let d = if dot.status == TrialStatus::Failed {
        format!("M{} {}l8 8m0 -8l-8 8", px(at - 4.0), px(to - 4.0))
    } else {
        shape(dot.series, (at, to), 4.0)
    };
    link(class, &d, (at, to), &dot.label, focus, &dot.href)
}

/// Draws the counted trials of a series in aggregated form, when there are too many for marks.
fn crowd(chart: &RunOrder, series: usize, x: &Scale, y: &Scale) -> Markup {
    let points: Vec<(f64, f64)> = chart
        .dots
        .iter()
        .filter(|d| d.series == series && d.status == TrialStatus::Counted)
        .map(|d| (f64::from(d.number), d.value))
        .collect();
    aggregated(&points, 400, x, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(n: u32) -> RunOrder {
        RunOrder {
            head: Head { id: "o".into(), title: "Run order".into(), desc: "d".into() },
            name: "elapsed".into(),
            unit: "s".into(),
            better: Better::Lower,
            series: vec!["a".into(), "b".into()],
            dots: (1..=n)
                .map(|number| Dot {
                    number,
                    value: if number == 3 { f64::NAN } else { 1.0 + f64::from(number % 5) / 100.0 },
                    series: (number % 2) as usize,
                    status: match number {
                        1 => TrialStatus::WarmUp,
                        4 => TrialStatus::Failed,
                        _ => TrialStatus::Counted,
                    },
                    label: format!("trial {number}"),
                    href: format!("#trial-{number}"),
                })
                .collect(),
            note: String::new(),
        }
    }

    #[test]
    fn is_as_drawn_before() {
        insta::assert_snapshot!(render(&chart(8)).into_string().replace("><", ">\n<"));
    }

    #[test]
    fn a_missing_value_is_no_mark_and_many_are_a_band() {
        let svg = render(&chart(8)).into_string();
        assert!(!svg.contains("#trial-3\""), "trial 3 has no value");
        assert!(svg.contains("m failed"));
        let svg = render(&chart(12_000)).into_string();
        assert!(svg.len() < 60_000);
        assert_eq!(svg.matches("data-cx").count(), 1, "a failed trial has a mark in any case");
    }
}
