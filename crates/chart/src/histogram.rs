//! Histograms: the number of values in rows that double in size, with the bars of several series
//! side by side.

use maud::{Markup, html};

use crate::axes::axis::{Axis, foot, heading};
use crate::axes::frame::{Head, PlotArea, px, svg_spanned};
use crate::axes::legend::{KeyKind, LegendKey, legend};
use crate::axes::mark::{Focus, mark, series_class};
use crate::axes::reach::ScaleRanges;
use crate::axes::ticks::short;

/// One series of the chart.
#[derive(Debug, Clone, PartialEq)]
pub struct HistogramSeries {
    /// Name in the legend.
    pub label: String,
    /// Rows `(from, to, count)`, lowest first.
    pub rows: Vec<(f64, f64, u64)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    pub head: Head,
    /// Name of the quantity: `size`.
    pub name: String,
    /// Unit of the values.
    pub unit: String,
    /// Noun for the counted events: `I/Os`.
    pub what: String,
    pub series: Vec<HistogramSeries>,
}

const PLOT_HEIGHT: f64 = 160.0;

impl Histogram {
    /// Returns the ranges that the chart's own data need.
    pub fn reach(&self) -> ScaleRanges {
        let rows = || self.series.iter().flat_map(|s| &s.rows);
        let low = rows().map(|r| r.0).filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
        let high = rows().map(|r| r.1).fold(low * 2.0, f64::max);
        let values = low.is_finite().then_some((low, high));
        ScaleRanges { time_s: None, values, most: rows().map(|r| r.2).max().unwrap_or(0) }
    }
}

/// Draws the chart with this width, on scales that also cover `reach`: values along a logarithmic
/// axis, counts upward from zero.
pub fn render_over(chart: &Histogram, reach: ScaleRanges, width: f64) -> Markup {
    let reach = reach.join(chart.reach());
    let x_axis = Axis::doublings(reach.values.unwrap_or((1.0, 2.0)), &chart.unit);
    let y_axis = Axis::linear((0.0, reach.most.max(1) as f64), "1");
    let keys = LegendKey::numbered(chart.series.iter().map(|s| s.label.as_str()), KeyKind::Mark);
    let (legend, legend_height) = legend(width, &keys);
    let inner = PlotArea::plot(width, y_axis.label_room(), 34.0 + legend_height, PLOT_HEIGHT);
    let x = x_axis.scale(inner.left, inner.right);
    let y = y_axis.scale(inner.bottom, inner.top);
    let n = chart.series.len().max(1) as f64;
    let body = html! {
        (heading(width, &y_axis.title(&chart.what), ""))
        (legend)
        (y_axis.vertical(&inner))
        (x_axis.horizontal(&inner, &x_axis.title(&chart.name)))
        @for (i, HistogramSeries { label, rows }) in chart.series.iter().enumerate() {
            g class={ "series " (series_class(i)) } data-series=(i) data-label=(label) {
                @for (k, (from, to, count)) in rows.iter().enumerate() {
                    // A logarithmic axis has no place for the row of 0; it is drawn at the left
                    // edge.
                    @let from_x = x.clamped(*from).unwrap_or(inner.left);
                    @let to_x = x.clamped(*to).unwrap_or(inner.left);
                    @let wide = (to_x - from_x - 2.0).max(2.0) / n;
                    @let left = from_x + 1.0 + wide * i as f64;
                    @if let Some(top) = y.clamped(*count as f64) {
                        @let (l, r, foot) = (px(left), px(left + wide), px(inner.bottom));
                        @let d = format!("M{l} {foot}H{r}V{}H{l}Z", px(top));
                        @let [from, to] = [from, to].map(|v| short(*v, &chart.unit));
                        @let words = format!("{label}: {count} {} from {from} to {to}", chart.what);
                        (mark("", &d, (left + wide / 2.0, top), &words, Focus::nth(k, rows.len())))
                    }
                }
            }
        }
    };
    svg_spanned(width, &chart.head, "histogram", foot(inner.bottom, ""), None, &body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axes::frame::WIDTH;

    #[test]
    fn marks_of_the_axis_are_edges_of_rows() {
        let row = |ns: u64| (ns as f64 / 1e9, ns as f64 * 2.0 / 1e9, 3);
        let chart = Histogram {
            head: Head { id: "h".into(), title: "t".into(), desc: "d".into() },
            name: "latency".into(),
            unit: "s".into(),
            what: "I/Os".into(),
            series: vec![HistogramSeries {
                label: "vda".into(),
                rows: vec![row(32_768), row(65_536)],
            }],
        };
        let svg = render_over(&chart, ScaleRanges::default(), WIDTH).into_string();
        for edge in ["32.77 µs", "65.54 µs", "131.1 µs"] {
            assert!(svg.contains(&format!(">{edge}</text>")), "{edge}: {svg}");
        }
    }

    #[test]
    fn labels_at_the_edge_do_not_cover_each_other() {
        let rows = (3..15).map(|e| (1e-6 * 2f64.powi(e), 1e-6 * 2f64.powi(e + 1), 1)).collect();
        let chart = Histogram {
            head: Head { id: "h".into(), title: "t".into(), desc: "d".into() },
            name: "latency".into(),
            unit: "s".into(),
            what: "I/Os".into(),
            series: vec![HistogramSeries { label: "vda".into(), rows }],
        };
        let svg = render_over(&chart, ScaleRanges::default(), crate::NARROW).into_string();
        assert!(svg.contains(">8.192 ms</text>") && !svg.contains(">32.77 ms</text>"), "{svg}");
    }

    #[test]
    fn a_bar_for_every_row() {
        let chart = Histogram {
            head: Head { id: "h".into(), title: "t".into(), desc: "d".into() },
            name: "size".into(),
            unit: "B".into(),
            what: "I/Os".into(),
            series: vec![
                HistogramSeries { label: "vda read".into(), rows: vec![(4096.0, 8192.0, 7)] },
                HistogramSeries {
                    label: "vda write".into(),
                    rows: vec![(0.0, 1.0, 2), (512.0, 1024.0, 1), (4096.0, 8192.0, 90)],
                },
            ],
        };
        let svg = render_over(&chart, ScaleRanges::default(), WIDTH).into_string();
        assert_eq!(svg.matches("class=\"m ").count(), 4, "{svg}");
        assert!(svg.contains("vda write: 90 I/Os from"), "{svg}");
        let narrow = render_over(&chart, ScaleRanges::default(), crate::NARROW).into_string();
        assert!(narrow.contains("viewBox=\"0 0 440 "), "{narrow}");
        assert_eq!(narrow.matches("class=\"m ").count(), 4, "{narrow}");
        assert!(!svg.contains("NaN"));
    }
}
