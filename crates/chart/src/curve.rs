//! Values over a size or a count: a line and an interval band for each series, highlighted points,
//! and vertical lines such as the sizes of caches.

use assay_model::Better;
use maud::{Markup, html};

use crate::axes::axis::{Axis, direction, heading, noted};
use crate::axes::frame::{Head, PlotArea, WIDTH, band, crosshair, label, line, path};
use crate::axes::labels::{Placer, rows};
use crate::axes::legend::{KeyKind, LegendKey, legend};
use crate::axes::mark::{Focus, line_class, mark, series_class, shape};
use crate::axes::reduce::{MAX_MARKS, aggregated};
use crate::axes::scale::{Scale, ScaleKind, extent};

/// One point of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct PlotPoint {
    /// Position on the x axis.
    pub x: f64,
    /// Value; NaN when missing.
    pub y: f64,
    /// Lower end of the interval; NaN without one.
    pub low: f64,
    /// Upper end of the interval; NaN without one.
    pub high: f64,
    /// Text shown when the point is hovered or focused.
    pub label: String,
}

/// Reason for highlighting a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standout {
    /// The best value, drawn as a ring.
    Best,
    /// The smallest x that is nearly as good, drawn as a filled mark.
    Efficient,
}

/// A highlighted point of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkedPoint {
    /// Position on the x axis.
    pub x: f64,
    pub y: f64,
    /// Label next to the point, such as `best 64 KiB`.
    pub label: String,
    pub standout: Standout,
}

/// One line of the chart.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveSeries {
    /// Name in the legend.
    pub label: String,
    /// Points by rising x.
    pub points: Vec<PlotPoint>,
    pub marked: Vec<MarkedPoint>,
}

/// A labelled vertical line.
#[derive(Debug, Clone, PartialEq)]
pub struct Vertical {
    /// Position on the x axis.
    pub x: f64,
    /// Label of the line: `L2 512 KiB`.
    pub label: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    pub head: Head,
    /// Name of the x axis.
    pub x_name: String,
    pub x_unit: String,
    /// Layout of the x axis.
    pub x_scale: ScaleKind,
    /// Name of the y axis.
    pub y_name: String,
    pub y_unit: String,
    /// Layout of the y axis; a linear axis includes zero.
    pub y_scale: ScaleKind,
    /// Direction in which the values improve.
    pub better: Better,
    pub series: Vec<CurveSeries>,
    /// Vertical lines; those outside the measured range are not drawn.
    pub verticals: Vec<Vertical>,
    /// Note with n and the meaning of the bands: `6 trials, bands: 95 % intervals`.
    pub note: String,
}

const PLOT_HEIGHT: f64 = 300.0;

pub fn render(curve: &Curve) -> Markup {
    let points = || curve.series.iter().flat_map(|s| &s.points);
    let x_domain = extent(points().map(|p| p.x)).unwrap_or((1.0, 2.0));
    let x_axis = match curve.x_scale {
        ScaleKind::Linear => Axis::linear(x_domain, &curve.x_unit),
        kind => Axis::log(kind, x_domain, &curve.x_unit),
    };
    let y_domain = extent(points().flat_map(|p| [p.y, p.low, p.high])).unwrap_or((0.0, 1.0));
    // The interval of a share may exceed 100 %; the share itself may only by the rounding of a
    // mean.
    let within = |p: &PlotPoint| p.y.is_nan() || p.y <= 100.0 * (1.0 + 1e-9);
    let share = curve.y_unit == "%" && points().all(within);
    let y_high = if share { y_domain.1.min(100.0) } else { y_domain.1 };
    let y_axis = match curve.y_scale {
        ScaleKind::Linear => Axis::linear((y_domain.0.min(0.0), y_high), &curve.y_unit),
        kind => Axis::log(kind, (y_domain.0 / 1.1, y_domain.1 * 1.1), &curve.y_unit),
    };

    let keys = LegendKey::numbered(curve.series.iter().map(|s| s.label.as_str()), KeyKind::Line);
    let (legend, legend_height) = legend(WIDTH, &keys);
    let left = y_axis.label_room();
    let right = WIDTH - 14.0;
    let verticals: Vec<&Vertical> =
        curve.verticals.iter().filter(|v| v.x >= x_domain.0 && v.x <= x_domain.1).collect();
    let x = x_axis.scale(left, right);
    let placed = rows(
        &verticals
            .iter()
            .map(|v| (x.at(v.x).unwrap_or(left), v.label.as_str()))
            .collect::<Vec<_>>(),
        left,
        right,
    );
    let mark_rows = placed.iter().map(|p| p.0 + 1).max().unwrap_or(0) as f64;
    let top = 36.0 + legend_height + mark_rows * 15.0;
    let inner = PlotArea { left, right, top, bottom: top + PLOT_HEIGHT, width: WIDTH };
    let y = y_axis.scale(inner.bottom, inner.top);

    let body = html! {
        (heading(WIDTH, &y_axis.title(&curve.y_name), &direction(curve.better)))
        (legend)
        (y_axis.vertical(&inner))
        (x_axis.horizontal(&inner, &x_axis.title(&curve.x_name)))
        g.verticals { @for (v, (row, start)) in verticals.iter().zip(&placed) {
            @if let Some(at) = x.at(v.x) {
                @let base = top - 6.0 - *row as f64 * 15.0;
                (line("", (at, base + 3.0), (at, inner.bottom)))
                (label("", (*start, base), &v.label))
            }
        } }
        (crosshair(&inner))
        (lines(curve, &x, &y))
        (standouts(curve, &x, &y, inner))
    };
    noted(&curve.head, "curve", inner.bottom, &curve.note, &body)
}

fn lines(curve: &Curve, x: &Scale, y: &Scale) -> Markup {
    let total: usize = curve.series.iter().map(|s| s.points.len()).sum();
    html! {
        @for (i, s) in curve.series.iter().enumerate() {
            g class={ "series " (line_class(i)) } data-series=(i) data-label=(s.label) {
                @if total > MAX_MARKS {
                    @let points: Vec<(f64, f64)> = s.points.iter().map(|p| (p.x, p.y)).collect();
                    (aggregated(&points, 600, x, y))
                } @else {
                    path.band d=(band(s.points.iter().map(|p| {
                        Some((x.at(p.x)?, y.clamped(p.low)?, y.clamped(p.high)?))
                    }))) {}
                    path.line d=(path(s.points.iter().map(|p| x.at(p.x).zip(y.at(p.y))))) {}
                    @for (k, p) in s.points.iter().enumerate() {
                        @if let Some(at) = x.at(p.x).zip(y.at(p.y)) {
                            @let focus = Focus::nth(k, s.points.len());
                            (mark("", &shape(i, at, 2.2), at, &p.label, focus))
                        }
                    }
                }
            }
        }
    }
}

fn standouts(curve: &Curve, x: &Scale, y: &Scale, inner: PlotArea) -> Markup {
    let mut placer = Placer::new(inner);
    let points: usize = curve.series.iter().map(|s| s.points.len()).sum();
    if points <= MAX_MARKS {
        for p in curve.series.iter().flat_map(|s| &s.points) {
            if let (Some(px), Some(py)) = (x.at(p.x), y.at(p.y)) {
                placer.block(px, py, 3.0);
            }
        }
    }
    for m in curve.series.iter().flat_map(|s| &s.marked) {
        if let (Some(px), Some(py)) = (x.at(m.x), y.at(m.y)) {
            placer.block(px, py, 7.0);
        }
    }
    html! {
        @for (i, s) in curve.series.iter().enumerate() {
            g class={ "series standouts " (series_class(i)) } data-series=(i) {
                @for m in &s.marked {
                    @if let (Some(px), Some(py)) = (x.at(m.x), y.at(m.y)) {
                        @match m.standout {
                            Standout::Best => path.best d=(shape(0, (px, py), 7.0)) {},
                            Standout::Efficient => path.efficient d=(shape(3, (px, py), 5.5)) {},
                        }
                        @if let Some(at) = placer.place(&m.label, px, py) {
                            (label("callout", at, &m.label))
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn sample() -> Curve {
        let points = |scale: f64| -> Vec<PlotPoint> {
            (0..8)
                .map(|e| {
                    let x = 512.0 * 2f64.powi(e);
                    let y = scale * x / (x + 4096.0);
                    let y = if e == 5 { f64::NAN } else { y };
                    PlotPoint {
                        x,
                        y,
                        low: y * 0.97,
                        high: y * 1.03,
                        label: format!("{x} B: {y:.3}"),
                    }
                })
                .collect()
        };
        Curve {
            head: Head { id: "c".into(), title: "Throughput <by> size".into(), desc: "d".into() },
            x_name: "buffer size".into(),
            x_unit: "B".into(),
            x_scale: ScaleKind::Log2,
            y_name: "throughput".into(),
            y_unit: "B/s".into(),
            y_scale: ScaleKind::Linear,
            better: Better::Higher,
            series: vec![
                CurveSeries {
                    label: "processes=1".into(),
                    points: points(5e9),
                    marked: vec![
                        MarkedPoint {
                            x: 65536.0,
                            y: 4.7e9,
                            label: "best 64 KiB".into(),
                            standout: Standout::Best,
                        },
                        MarkedPoint {
                            x: 32768.0,
                            y: 4.4e9,
                            label: "efficient 32 KiB".into(),
                            standout: Standout::Efficient,
                        },
                    ],
                },
                CurveSeries { label: "processes=2".into(), points: points(9e9), marked: vec![] },
            ],
            verticals: vec![
                Vertical { x: 32768.0, label: "L1d 32 KiB".into() },
                Vertical { x: 1e9, label: "L3 1 GB".into() },
            ],
            note: "6 trials, bands: 95 % intervals".into(),
        }
    }

    #[test]
    fn is_as_drawn_before() {
        insta::assert_snapshot!(render(&sample()).into_string().replace("><", ">\n<"));
    }

    #[test]
    fn escapes_breaks_at_gaps_and_leaves_out_what_is_outside() {
        let svg = render(&sample()).into_string();
        assert!(svg.contains("Throughput &lt;by&gt; size"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert!(!svg.contains("L3 1 GB"));
        let line = svg.split("class=\"line\" d=\"").nth(1).unwrap();
        assert_eq!(line.split('"').next().unwrap().matches('M').count(), 2, "one gap, two strokes");
    }

    #[test]
    fn the_axis_of_a_share_ends_at_the_whole() {
        let mut curve = sample();
        curve.y_unit = "%".into();
        for (i, p) in curve.series.iter_mut().flat_map(|s| &mut s.points).enumerate() {
            (p.y, p.low, p.high) = (90.0 + f64::from(i as u32 % 9), 50.0, 180.0);
        }
        curve.series[0].points[3].y = 100.000_000_000_000_04;
        let top = |c: &Curve| render(c).into_string().contains(">150<");
        assert!(!top(&curve));
        curve.series[0].points[0].y = 120.0;
        assert!(top(&curve));
    }

    #[test]
    fn many_points_become_a_band() {
        let mut c = sample();
        c.series[0].points = (1..=20_000)
            .map(|i| PlotPoint {
                x: f64::from(i),
                y: f64::from(i % 7),
                low: f64::NAN,
                high: f64::NAN,
                label: String::new(),
            })
            .collect();
        let svg = render(&c).into_string();
        assert!(svg.len() < 60_000, "{}", svg.len());
        assert!(!svg.contains("data-cx"));
    }

    #[test]
    fn nothing_to_draw_is_still_a_chart() {
        let mut c = sample();
        c.series.clear();
        assert!(render(&c).into_string().contains("<svg"));
    }
}
