//! Empirical cumulative distribution: the share of values at or below each value. It shows two
//! modes, tails and outliers, which a mean with its interval hides. One step line for each series.

use std::fmt::Write as _;

use assay_model::Better;
use maud::{Markup, html};

use crate::axes::axis::{Axis, direction, heading, noted};
use crate::axes::frame::{Head, PlotArea, WIDTH, crosshair, px};
use crate::axes::legend::{KeyKind, LegendKey, legend};
use crate::axes::mark::{Focus, line_class, mark, shape};
use crate::axes::scale::{Scale, extent};
use crate::axes::ticks::short;

/// One line of the chart.
#[derive(Debug, Clone, PartialEq)]
pub struct EcdfSeries {
    /// Name in the legend.
    pub label: String,
    /// Values in any order; values that are not finite are ignored.
    pub values: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ecdf {
    pub head: Head,
    pub name: String,
    pub unit: String,
    /// Direction in which the metric improves.
    pub better: Better,
    pub series: Vec<EcdfSeries>,
    /// Note for the reader.
    pub note: String,
}

const PLOT_HEIGHT: f64 = 200.0;
/// Maximum number of steps of a line: more would not be visible.
const MAX_STEPS: usize = 500;

/// Draws the chart, with a mark at each series' median. A line of more than 500 values is drawn
/// with steps at 500 evenly spaced quantiles.
pub fn render(chart: &Ecdf) -> Markup {
    let sorted: Vec<Vec<f64>> = chart.series.iter().map(|s| finite(&s.values)).collect();
    let (low, high) = extent(sorted.iter().flatten().copied()).unwrap_or((0.0, 1.0));
    let pad = ((high - low) * 0.04).max(high.abs() * 1e-6);
    let x_axis = Axis::linear((low - pad, high + pad), &chart.unit);
    let y_axis = Axis::exact((0.0, 100.0), "%");
    let keys = LegendKey::numbered(chart.series.iter().map(|s| s.label.as_str()), KeyKind::Line);
    let (legend, legend_height) = legend(WIDTH, &keys);
    let inner = PlotArea::plot(WIDTH, y_axis.label_room(), 36.0 + legend_height, PLOT_HEIGHT);
    let x = x_axis.scale(inner.left, inner.right);
    let y = y_axis.scale(inner.bottom, inner.top);
    let body = html! {
        (heading(WIDTH, "trials at or below, %", &direction(chart.better)))
        (legend)
        (y_axis.vertical(&inner))
        (x_axis.horizontal(&inner, &x_axis.title(&chart.name)))
        (crosshair(&inner))
        @for (i, (s, values)) in chart.series.iter().zip(&sorted).enumerate() {
            g class={ "series " (line_class(i)) } data-series=(i) data-label=(s.label) {
                path.line d=(steps(values, &x, &y)) {}
                @let (n, half) = (values.len(), values.len().saturating_sub(1) / 2);
                @let share = 100.0 * (half + 1) as f64 / n as f64;
                @if let Some(at) = values.get(half).and_then(|v| x.at(*v).zip(y.at(share))) {
                    @let median = short(values[half], &chart.unit);
                    @let label = format!("{}: half of {n} trials at or below {median}", s.label);
                    (mark("", &shape(i, at, 3.5), at, &label, Focus::nth(i, chart.series.len())))
                }
            }
        }
    };
    noted(&chart.head, "ecdf", inner.bottom, &chart.note, &body)
}

fn finite(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Draws a line along the bottom to the first value, then up at each value.
fn steps(sorted: &[f64], x: &Scale, y: &Scale) -> String {
    let n = sorted.len();
    let mut d = String::new();
    let drawn = n.min(MAX_STEPS);
    let Some(foot) = y.at(0.0) else { return d };
    for k in 0..drawn {
        // The k-th of `drawn` evenly spaced ranks; the last is always the largest value.
        let rank = (k + 1) * n / drawn - 1;
        let share = 100.0 * (rank + 1) as f64 / n as f64;
        let (Some(at), Some(to)) = (x.at(sorted[rank]), y.at(share)) else { continue };
        if d.is_empty() {
            let _ = write!(d, "M{} {}", px(x.start), px(foot));
        }
        let _ = write!(d, "H{}V{}", px(at), px(to));
    }
    if !d.is_empty() {
        let _ = write!(d, "H{}", px(x.end));
    }
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(series: Vec<EcdfSeries>) -> Ecdf {
        Ecdf {
            head: Head { id: "e".into(), title: "elapsed <by> share".into(), desc: "d".into() },
            name: "elapsed".into(),
            unit: "s".into(),
            better: Better::Lower,
            series,
            note: "3 trials".into(),
        }
    }

    #[test]
    fn a_step_for_each_value_and_the_last_is_all_of_them() {
        let values = vec![3.0, 1.0, f64::NAN, 2.0];
        let svg = render(&chart(vec![EcdfSeries { label: "a".into(), values }])).into_string();
        assert!(!svg.contains("NaN"));
        assert!(svg.contains("half of 3 trials at or below 2 s"), "{svg}");
        let path = svg.split("class=\"line\" d=\"").nth(1).unwrap().split('"').next().unwrap();
        assert_eq!(path.matches('V').count(), 3, "{path}");
        insta::assert_snapshot!(svg.replace("><", ">\n<"));
    }

    #[test]
    fn nothing_and_very_many_values_are_drawn() {
        let none = EcdfSeries { label: "none".into(), values: vec![f64::NAN] };
        let many =
            EcdfSeries { label: "many".into(), values: (0..100_000).map(f64::from).collect() };
        let svg = render(&chart(vec![none, many])).into_string();
        assert!(svg.len() < 60_000, "{}", svg.len());
    }
}
