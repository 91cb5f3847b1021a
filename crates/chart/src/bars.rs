//! Bar chart of results: horizontal bars from zero with the interval as a whisker.

use assay_model::Better;
use maud::{Markup, html};

use crate::axes::axis::{Axis, direction, heading, noted};
use crate::axes::frame::{Head, PlotArea, WIDTH, fit, label, px, text_width};
use crate::axes::mark::{Focus, mark, whisker};
use crate::axes::scale::extent;

/// One bar of the chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Name of the system or treatment.
    pub label: String,
    /// Value of the result; NaN when missing.
    pub value: f64,
    /// Lower end of the interval; NaN without one.
    pub low: f64,
    /// Upper end of the interval; NaN without one.
    pub high: f64,
    /// Text of the result, shown at the end of the bar.
    pub text: String,
    /// True for the reference with which the others are compared.
    pub reference: bool,
    /// True for a quoted result.
    pub quoted: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    pub head: Head,
    pub name: String,
    pub unit: String,
    /// Direction in which the metric improves.
    pub better: Better,
    /// Bars from top to bottom.
    pub bars: Vec<Bar>,
    /// Note with n and the confidence level.
    pub note: String,
}

const ROW: f64 = 32.0;

pub fn render(chart: &Bars) -> Markup {
    let high = extent(chart.bars.iter().flat_map(|b| [b.value, b.high])).map_or(1.0, |e| e.1);
    let axis = Axis::linear((0.0, if high > 0.0 { high } else { 1.0 }), &chart.unit);
    let widest =
        |of: fn(&Bar) -> &str| chart.bars.iter().map(|b| text_width(of(b))).fold(0.0, f64::max);
    // System names contain many capitals and digits, which are wider than the average character.
    let left = (widest(|b| &b.label) * 1.06 + 14.0).clamp(60.0, 272.0);
    let room = (widest(|b| &b.text) + 16.0).min(220.0);
    let height = 6.0 + ROW * chart.bars.len().max(1) as f64;
    let inner = PlotArea { right: WIDTH - room, ..PlotArea::plot(WIDTH, left, 28.0, height) };
    let x = axis.scale(inner.left, inner.right);
    let body = html! {
        (heading(WIDTH, "", &direction(chart.better)))
        (axis.upright_grid(&inner))
        (axis.horizontal(&inner, &axis.title(&chart.name)))
        @for (i, b) in chart.bars.iter().enumerate() {
            @let top = inner.top + 3.0 + ROW * i as f64;
            @let y = top + ROW / 2.0;
            g class={ "row" @if b.reference { " reference" } @if b.quoted { " quoted" } } {
                text.end x=(px(left - 8.0)) y=(px(y + 4.0)) {
                    (fit(&b.label, (left - 14.0) / 1.06)) title { (b.label) }
                }
                @if let Some(end) = x.clamped(b.value) {
                    @let (l, r) = (px(left), px(end));
                    @let d = format!("M{l} {}H{r}v{}H{l}Z", px(top + 5.0), px(ROW - 10.0));
                    (mark("bar", &d, (end, y), &format!("{}: {}", b.label, b.text), Focus::Stop))
                }
                @if let (Some(a), Some(c)) = (x.clamped(b.low), x.clamped(b.high)) {
                    (whisker(a, c, y, 4.0))
                }
                @let end = x.clamped(b.high).or(x.clamped(b.value)).unwrap_or(left);
                (label("", (end + 8.0, y + 4.0), &b.text))
            }
        }
    };
    noted(&chart.head, "bars", inner.bottom, &chart.note, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_start_at_zero() {
        let bar = |label: &str, value: f64| Bar {
            label: label.into(),
            value,
            low: value * 0.98,
            high: value * 1.02,
            text: format!("{value} ops/s"),
            reference: label == "a",
            quoted: false,
        };
        let chart = Bars {
            head: Head { id: "b".into(), title: "Landscape".into(), desc: "d".into() },
            name: "throughput".into(),
            unit: "ops/s".into(),
            better: Better::Higher,
            bars: vec![bar("a", 990_000.0), bar("b", 1_010_000.0), bar("missing", f64::NAN)],
            note: String::new(),
        };
        let svg = render(&chart).into_string();
        assert!(svg.contains(">0</text>") && !svg.contains("M NaN") && !svg.contains("dNaN"));
        insta::assert_snapshot!(svg.replace("><", ">\n<"));
    }
}
