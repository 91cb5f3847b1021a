//! Forest plot: ratios to a baseline with their intervals on a log axis, a line at 1, and a band
//! for the margin.

use assay_model::Better;
use maud::{Markup, html};

use super::{label_room, row_label};
use crate::axes::axis::{Axis, direction, heading, noted};
use crate::axes::frame::{Head, PlotArea, WIDTH, label, line, rect, text_width};
use crate::axes::mark::{Focus, mark, shape, whisker};
use crate::axes::scale::{ScaleKind, extent};
use crate::axes::ticks::short;

/// Comparison of one treatment with the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct RatioRow {
    /// Label of the treatment.
    pub label: String,
    /// Ratio treatment / baseline; NaN if it cannot be computed.
    pub ratio: f64,
    /// Lower end of the interval; NaN without one.
    pub low: f64,
    /// Upper end of the interval; NaN without one.
    pub high: f64,
    /// Verdict, used as text and as CSS class: `better`, `worse`, `equivalent`, `inconclusive` or
    /// `invalid`.
    pub verdict: String,
    /// Ratio and interval as text, shown at the right.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ratios {
    pub head: Head,
    /// Title of the axis: `throughput, ratio to processes=1`.
    pub name: String,
    /// Direction in which the metric improves.
    pub better: Better,
    /// Margin as a fraction, if one was requested.
    pub margin: Option<f64>,
    pub rows: Vec<RatioRow>,
    /// Note with n and the confidence level.
    pub note: String,
}

const HEIGHT: f64 = 37.5;

pub fn render(chart: &Ratios) -> Markup {
    let (low, high) = extent(
        chart
            .rows
            .iter()
            .flat_map(|r| [r.ratio, r.low, r.high])
            .chain([1.0])
            .chain(chart.margin.into_iter().flat_map(|m| [1.0 / (1.0 + m), 1.0 + m]))
            .filter(|v| *v > 0.0),
    )
    .unwrap_or((0.9, 1.1));
    let room = (high / low).powf(0.08).max(1.01);
    let axis = Axis::log(ScaleKind::Log10, (low / room, high * room), "1");
    let left = label_room(chart.rows.iter().map(|r| r.label.as_str()));
    let texts = chart
        .rows
        .iter()
        .map(|r| text_width(&r.text).max(text_width(&r.verdict)))
        .fold(0.0, f64::max);
    let height = 6.0 + HEIGHT * chart.rows.len().max(1) as f64;
    let inner = PlotArea {
        right: WIDTH - texts.min(220.0) - 20.0,
        ..PlotArea::plot(WIDTH, left, 30.0, height)
    };
    let x = axis.scale(inner.left, inner.right);
    let body = html! {
        (heading(WIDTH, "", &direction(chart.better)))
        @if let Some(m) = chart.margin {
            @if let (Some(a), Some(b)) = (x.clamped(1.0 / (1.0 + m)), x.clamped(1.0 + m)) {
                @let within = short(m * 100.0, "%");
                @let title = format!("differences that do not matter: within {within}");
                (rect("margin", (a, inner.top), (b - a, inner.bottom - inner.top), &title))
            }
        }
        (axis.upright_grid(&inner))
        (axis.horizontal(&inner, &chart.name))
        @if let Some(one) = x.at(1.0) {
            (line("one", (one, inner.top), (one, inner.bottom)))
        }
        @for (i, r) in chart.rows.iter().enumerate() {
            @let y = inner.top + HEIGHT * (i as f64 + 0.5) + 3.0;
            g class={ "row verdict-" (r.verdict) } {
                (row_label(&r.label, y, left))
                @if let (Some(a), Some(b)) = (x.at(r.low), x.at(r.high)) {
                    (whisker(a, b, y, 5.0))
                }
                @if let Some(at) = x.at(r.ratio).map(|at| (at, y)) {
                    @let words = format!("{}: {} {}", r.label, r.text, r.verdict);
                    (mark("", &shape(1, at, 5.0), at, &words, Focus::Stop))
                }
                (label("", (inner.right + 12.0, y - 3.0), &r.text))
                (label("note", (inner.right + 12.0, y + 12.0), &r.verdict))
            }
        }
    };
    noted(&chart.head, "ratios", inner.bottom, &chart.note, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_as_drawn_before() {
        let row = |label: &str, ratio: f64, verdict: &str| RatioRow {
            label: label.into(),
            ratio,
            low: ratio / 1.02,
            high: ratio * 1.02,
            verdict: verdict.into(),
            text: format!("{ratio:.2} ({:.2}..{:.2})", ratio / 1.02, ratio * 1.02),
        };
        let chart = Ratios {
            head: Head { id: "r".into(), title: "Ratios".into(), desc: "d".into() },
            name: "elapsed, ratio to a & b".into(),
            better: Better::Lower,
            margin: Some(0.02),
            rows: vec![
                row("zstd -3", 1.31, "worse"),
                row("zstd -1", 1.004, "equivalent"),
                RatioRow {
                    ratio: f64::NAN,
                    low: f64::NAN,
                    high: f64::NAN,
                    text: "withheld".into(),
                    ..row("x", 1.0, "invalid")
                },
            ],
            note: "10 pairs, 95 % intervals".into(),
        };
        let svg = render(&chart).into_string();
        assert!(!svg.contains("NaN"));
        insta::assert_snapshot!(svg.replace("><", ">\n<"));
    }
}
