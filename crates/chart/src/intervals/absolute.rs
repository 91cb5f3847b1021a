//! Absolute values of the treatments: the mean as a dot, its interval as a bar, and every trial as
//! a small dot below.

use assay_model::Better;
use maud::{Markup, html};

use super::{label_room, row_label};
use crate::axes::axis::{Axis, direction, heading, noted};
use crate::axes::frame::{Head, PlotArea, WIDTH, rect};
use crate::axes::mark::{Focus, link, mark, shape, whisker};
use crate::axes::scale::extent;

/// One trial of a treatment.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    pub value: f64,
    /// Text shown when the dot is hovered: `trial 3: 5.51 GB/s`.
    pub label: String,
    /// Link to the trial's record: `#trial-3`; empty for no link.
    pub href: String,
}

/// One treatment with its trials.
#[derive(Debug, Clone, PartialEq)]
pub struct TreatmentRow {
    /// Label of the treatment.
    pub label: String,
    /// Geometric mean; NaN if it cannot be computed.
    pub value: f64,
    /// Lower end of the interval; NaN without one.
    pub low: f64,
    /// Upper end of the interval; NaN without one.
    pub high: f64,
    /// Mean and interval as text.
    pub text: String,
    pub dots: Vec<Dot>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Absolute {
    pub head: Head,
    pub name: String,
    pub unit: String,
    /// Direction in which the metric improves.
    pub better: Better,
    pub rows: Vec<TreatmentRow>,
    /// Note with n and the confidence level.
    pub note: String,
}

const HEIGHT: f64 = 44.0;
/// Maximum number of trials drawn as dots; with more trials, only their range is drawn.
const MAX_DOTS: usize = 1000;

/// Draws the chart. The axis starts at zero if the smallest value is below a third of the largest
/// one; otherwise it starts near the smallest value, and a note states this.
pub fn render(chart: &Absolute) -> Markup {
    let all = chart
        .rows
        .iter()
        .flat_map(|r| [r.value, r.low, r.high].into_iter().chain(r.dots.iter().map(|d| d.value)));
    let (low, high) = extent(all).unwrap_or((0.0, 1.0));
    let pad = (high - low) * 0.04;
    let from_zero = low >= 0.0 && low < high / 3.0;
    let axis =
        Axis::linear(if from_zero { (0.0, high) } else { (low - pad, high + pad) }, &chart.unit);
    let left = label_room(chart.rows.iter().map(|r| r.label.as_str()));
    let height = 4.0 + HEIGHT * chart.rows.len().max(1) as f64;
    let inner = PlotArea { right: WIDTH - 16.0, ..PlotArea::plot(WIDTH, left, 30.0, height) };
    let x = axis.scale(inner.left, inner.right);
    let total: usize = chart.rows.iter().map(|r| r.dots.len()).sum();
    let warning = if axis.domain.0 > 0.0 { "the axis does not start at 0" } else { "" };
    let body = html! {
        text.note x="2" y="14" { (warning) }
        (heading(WIDTH, "", &direction(chart.better)))
        (axis.upright_grid(&inner))
        (axis.horizontal(&inner, &axis.title(&chart.name)))
        @for (i, r) in chart.rows.iter().enumerate() {
            @let y = inner.top + HEIGHT * (i as f64 + 0.5);
            g.row {
                (row_label(&r.label, y, left))
                @if total <= MAX_DOTS {
                    @for (k, d) in r.dots.iter().enumerate() {
                        @if let Some(at) = x.at(d.value) {
                            // Trials are spread over three lines, so that equal values remain
                            // visible.
                            @let at = (at, y + 10.0 + (k % 3) as f64 * 3.0);
                            @let focus = Focus::nth(k, r.dots.len());
                            (link("trial", &shape(0, at, 2.6), at, &d.label, focus, &d.href))
                        }
                    }
                } @else if let Some((a, b)) = extent(r.dots.iter().map(|d| d.value)) {
                    @if let (Some(a), Some(b)) = (x.at(a), x.at(b)) {
                        @let n = r.dots.len();
                        @let title = format!("from the minimum to the maximum of {n} trials");
                        (rect("spread", (a, y + 9.0), (b - a, 6.0), &title))
                    }
                }
                @if let (Some(a), Some(b)) = (x.at(r.low), x.at(r.high)) {
                    (whisker(a, b, y - 4.0, 5.0))
                }
                @if let Some(at) = x.at(r.value).map(|at| (at, y - 4.0)) {
                    @let label = format!("{}: {}", r.label, r.text);
                    (mark("mean", &shape(0, at, 5.0), at, &label, Focus::Stop))
                }
            }
        }
    };
    noted(&chart.head, "absolute", inner.bottom, &chart.note, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_as_drawn_before() {
        let row = |label: &str, value: f64, n: usize| TreatmentRow {
            label: label.into(),
            value,
            low: value * 0.99,
            high: value * 1.01,
            text: format!("{value:.3}"),
            dots: (0..n)
                .map(|i| Dot {
                    value: value * (0.98 + 0.01 * i as f64),
                    label: format!("trial {i}"),
                    href: if i == 0 { String::new() } else { format!("#trial-{i}") },
                })
                .collect(),
        };
        let chart = Absolute {
            head: Head { id: "a".into(), title: "Elapsed".into(), desc: "d".into() },
            name: "elapsed".into(),
            unit: "s".into(),
            better: Better::Lower,
            rows: vec![row("a", 0.123, 5), row("b", 0.131, 0)],
            note: "n = 5".into(),
        };
        let svg = render(&chart).into_string();
        assert!(svg.contains("the axis does not start at 0"));
        insta::assert_snapshot!(svg.replace("><", ">\n<"));
    }
}
