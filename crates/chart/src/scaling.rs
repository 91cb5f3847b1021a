//! Scaling of a metric with a count: speedup compared with the ideal, and efficiency below.

use maud::{Markup, html};

use crate::axes::axis::{Axis, heading, noted};
use crate::axes::frame::{Head, PlotArea, WIDTH, crosshair, label, line, path, px};
use crate::axes::legend::{KeyKind, LegendKey, legend};
use crate::axes::mark::{Focus, mark, shape};
use crate::axes::scale::{ScaleKind, extent};

/// The measurement at one count.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedupPoint {
    /// Number of processes, threads or copies.
    pub count: f64,
    /// Speedup: value / value at the smallest count.
    pub speedup: f64,
    /// Lower end of the speedup's interval; NaN without one.
    pub low: f64,
    /// Upper end of the speedup's interval; NaN without one.
    pub high: f64,
    /// Efficiency: speedup / (count / smallest count).
    pub efficiency: f64,
    /// Text shown when the point is hovered.
    pub label: String,
}

/// A fitted model, drawn within the measured range.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Name in the legend.
    pub name: String,
    /// Points `(count, speedup)` by rising count.
    pub points: Vec<(f64, f64)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ScalingChart {
    pub head: Head,
    /// Name of the count: `processes`.
    pub factor: String,
    /// Measured points by rising count.
    pub points: Vec<SpeedupPoint>,
    pub models: Vec<Model>,
    /// Note with n and the confidence level.
    pub note: String,
}

const SPEEDUP_HEIGHT: f64 = 230.0;
const EFFICIENCY_HEIGHT: f64 = 100.0;

/// Draws the chart. Counts with a ratio above 16 between largest and smallest are on a log2 axis.
pub fn render(chart: &ScalingChart) -> Markup {
    let (first, last) = extent(chart.points.iter().map(|p| p.count)).unwrap_or((1.0, 2.0));
    let wide = last / first > 16.0;
    let kind = if wide { ScaleKind::Log2 } else { ScaleKind::Linear };
    let pad = if wide { 0.0 } else { (last - first) * 0.04 };
    let x_axis = if wide {
        Axis::log(kind, (first, last), "1")
    } else {
        Axis::counts((first - pad, last + pad))
    };
    let values = chart.points.iter().flat_map(|p| [p.speedup, p.high]).chain([last / first]);
    let top_value = extent(values).map_or(2.0, |e| e.1);
    let y_axis = Axis::linear((0.0, top_value), "1");
    let best = extent(chart.points.iter().map(|p| p.efficiency)).map_or(1.0, |e| e.1.max(1.0));
    let e_axis = Axis::linear((0.0, best * 100.0), "%");

    let mut keys = vec![
        LegendKey::series(0, "measured", KeyKind::Line),
        LegendKey { label: "ideal".into(), class: "ideal".into(), series: 99, kind: KeyKind::Line },
    ];
    for (i, m) in chart.models.iter().enumerate() {
        keys.push(LegendKey {
            label: m.name.clone(),
            class: format!("s{} dashed", i + 1),
            series: i + 1,
            kind: KeyKind::Line,
        });
    }
    let (legend, legend_height) = legend(WIDTH, &keys);
    let left = y_axis.label_room().max(e_axis.label_room());
    let upper = PlotArea::plot(WIDTH, left, 36.0 + legend_height, SPEEDUP_HEIGHT);
    let lower = PlotArea::plot(WIDTH, left, upper.bottom + 40.0, EFFICIENCY_HEIGHT);
    let x = x_axis.scale(left, upper.right);
    let y = y_axis.scale(upper.bottom, upper.top);
    let e = e_axis.scale(lower.bottom, lower.top);
    let ideal = (0..=40).map(|i| {
        let share = f64::from(i) / 40.0;
        let count =
            if wide { first * (last / first).powf(share) } else { first + (last - first) * share };
        Some((x.at(count)?, y.at(count / first)?))
    });
    let speedup = |p: &SpeedupPoint| x.at(p.count).zip(y.at(p.speedup));
    let efficiency = |p: &SpeedupPoint| x.at(p.count).zip(e.at(p.efficiency * 100.0));
    let whisker = |p: &SpeedupPoint| {
        let (at, low, high) = (x.at(p.count)?, px(y.clamped(p.low)?), px(y.clamped(p.high)?));
        let (left, middle) = (px(at - 4.0), px(at));
        Some(format!("M{left} {low}h8M{middle} {low}V{high}M{left} {high}h8"))
    };
    let body = html! {
        (heading(WIDTH, "speedup over the smallest count", "↑ higher is better"))
        (legend)
        (y_axis.vertical(&upper))
        (e_axis.vertical(&lower))
        (label("name", (2.0, lower.top - 12.0), "efficiency, %"))
        (line("base", (left, upper.bottom), (upper.right, upper.bottom)))
        (x_axis.horizontal(&lower, &chart.factor))
        (crosshair(&PlotArea { bottom: lower.bottom, ..upper }))
        g.series data-series="99" data-label="ideal" { path.line.ideal d=(path(ideal)) {} }
        @for (i, m) in chart.models.iter().enumerate() {
            g class={ "series s" (i + 1) " dashed" } data-series=(i + 1) data-label=(m.name) {
                path.line d=(path(m.points.iter().map(|p| Some((x.at(p.0)?, y.clamped(p.1)?))))) {}
            }
        }
        g.series.s0 data-series="0" data-label="measured" {
            path.line d=(path(chart.points.iter().map(speedup))) {}
            path.line d=(path(chart.points.iter().map(efficiency))) {}
            @for p in &chart.points {
                @if let Some(d) = whisker(p) { path.whisker d=(d) {} }
                @if let Some(at) = speedup(p) {
                    (mark("", &shape(0, at, 4.0), at, &p.label, Focus::Stop))
                }
                @if let Some(at) = efficiency(p) {
                    (mark("", &shape(0, at, 3.0), at, &p.label, Focus::Skip))
                }
            }
        }
    };
    noted(&chart.head, "scaling", lower.bottom, &chart.note, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_as_drawn_before() {
        let point = |count: f64, speedup: f64| SpeedupPoint {
            count,
            speedup,
            low: speedup * 0.98,
            high: if count > 2.0 { f64::NAN } else { speedup * 1.02 },
            efficiency: speedup / count,
            label: format!("{count}: {speedup}"),
        };
        let chart = ScalingChart {
            head: Head { id: "s".into(), title: "Scaling".into(), desc: "d".into() },
            factor: "processes".into(),
            points: vec![point(1.0, 1.0), point(2.0, 1.9), point(4.0, 3.2)],
            models: vec![Model { name: "Amdahl".into(), points: vec![(1.0, 1.0), (4.0, 3.3)] }],
            note: "n = 6".into(),
        };
        let svg = render(&chart).into_string();
        assert!(!svg.contains("NaN"));
        insta::assert_snapshot!(svg.replace("><", ">\n<"));
    }
}
