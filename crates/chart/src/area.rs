//! Shares stacked over time, such as the use of CPU time, with the phases of the trial.

use maud::{Markup, html};

use crate::axes::axis::Axis;
use crate::axes::frame::{Head, PlotArea, WIDTH, band, px, svg};
use crate::axes::legend::{KeyKind, LegendKey};
use crate::axes::mark::Focus;
use crate::axes::reach::ScaleRanges;
use crate::axes::scale::{Scale, extent};
use crate::axes::timeline::{PhaseSpan, Timeline};

/// One layer of the stack.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Name in the legend.
    pub name: String,
    /// CSS class: `user`, `system`, `irq`, `iowait`, `steal`, `idle`, `ready`, `memory` and
    /// `unknown` have colours.
    pub class: String,
}

/// Values over one interval of time.
#[derive(Debug, Clone, PartialEq)]
pub struct AreaStep {
    /// Start of the interval, seconds from the trial's start.
    pub from_s: f64,
    /// End of the interval, seconds from the trial's start.
    pub to_s: f64,
    /// Values in the order of the layers; a NaN among them makes the interval a gap.
    pub values: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Area {
    pub head: Head,
    /// Name of the stacked quantity: `CPU time`.
    pub name: String,
    pub unit: String,
    /// Top of the axis if it is known (100 for percent).
    pub full: Option<f64>,
    /// Layers from the bottom up.
    pub layers: Vec<Layer>,
    /// Intervals in order of time.
    pub steps: Vec<AreaStep>,
    pub phases: Vec<PhaseSpan>,
    /// Note about the samples.
    pub note: String,
}

const PLOT_HEIGHT: f64 = 200.0;
const MAX_STEPS: usize = 300;

/// Draws the chart on a time axis that also covers `reach`. Intervals without a value, and time
/// outside all intervals, stay empty.
pub fn render_over(chart: &Area, reach: ScaleRanges) -> Markup {
    draw(chart, reach, &FULL)
}

/// Draws the chart as one of many small ones that share one [`legend`].
pub fn render_small(chart: &Area, reach: ScaleRanges) -> Markup {
    draw(chart, reach, &SMALL)
}

/// Draws the legend for a set of small charts.
pub fn legend(head: &Head, layers: &[Layer]) -> Markup {
    let (legend, height) = crate::axes::legend::legend(WIDTH, &keys(layers));
    svg(head, "area", 30.0 + height, &legend)
}

/// Size of a chart.
struct Size {
    width: f64,
    height: f64,
    most: usize,
    legend: bool,
}

const FULL: Size = Size { width: WIDTH, height: PLOT_HEIGHT, most: MAX_STEPS, legend: true };
const SMALL: Size = Size { width: 300.0, height: 80.0, most: 60, legend: false };

fn keys(layers: &[Layer]) -> Vec<LegendKey> {
    let key = |(i, l): (usize, &Layer)| LegendKey {
        label: l.name.clone(),
        class: format!("layer-{}", l.class),
        series: i,
        kind: KeyKind::Fill,
    };
    layers.iter().enumerate().map(key).collect()
}

fn draw(chart: &Area, reach: ScaleRanges, size: &Size) -> Markup {
    let steps = merged(&chart.steps, size.most);
    let sums = steps.iter().map(|s| s.values.iter().sum());
    let top_value = chart.full.or_else(|| extent(sums).map(|e| e.1)).unwrap_or(1.0);
    let y_axis = Axis::linear((0.0, top_value), &chart.unit);
    let keys = if size.legend { keys(&chart.layers) } else { Vec::new() };
    let within = reach.time_s.into_iter().flat_map(|(from, to)| [from, to]);
    let moments = steps.iter().flat_map(|s| [s.from_s, s.to_s]).chain(within);
    let plot = Timeline::new(size.width, moments, &chart.phases, y_axis, &keys, size.height);
    let body = html! {
        (plot.ground(&chart.name, &chart.note))
        @for (i, l) in chart.layers.iter().enumerate() {
            path class={ "fill layer-" (l.class) } d=(layer(&steps, i, &plot.x, &plot.y)) {}
        }
        (plot.axes())
        (hits(chart, &steps, &plot.x, &plot.inner))
    };
    plot.svg(&chart.head, "area", &body)
}

/// Returns the outline of one layer: steps, since a value holds over its whole interval.
fn layer(steps: &[AreaStep], index: usize, x: &Scale, y: &Scale) -> String {
    let mut points: Vec<Option<(f64, f64, f64)>> = Vec::new();
    let mut last_end = f64::NAN;
    for step in steps {
        let Some(edges) = edges(step, index, x, y) else {
            points.push(None);
            last_end = f64::NAN;
            continue;
        };
        if step.from_s - last_end > (step.to_s - step.from_s) * 0.01 {
            points.push(None);
        }
        let (a, b, low, high) = edges;
        points.push(Some((a, low, high)));
        points.push(Some((b, low, high)));
        last_end = step.to_s;
    }
    band(points.into_iter())
}

fn edges(step: &AreaStep, index: usize, x: &Scale, y: &Scale) -> Option<(f64, f64, f64, f64)> {
    if step.values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let below: f64 = step.values.iter().take(index).sum();
    let value = step.values.get(index)?;
    Some((x.at(step.from_s)?, x.at(step.to_s)?, y.clamped(below)?, y.clamped(below + value)?))
}

/// Draws invisible rectangles over the intervals, whose titles contain the values.
fn hits(chart: &Area, steps: &[AreaStep], x: &Scale, inner: &PlotArea) -> Markup {
    let (top, height) = (px(inner.top), px(inner.bottom - inner.top));
    html! {
        g.hits { @for (i, s) in steps.iter().enumerate() {
            @if let (Some(a), Some(b)) = (x.at(s.from_s), x.at(s.to_s)) {
                rect.m.hit x=(px(a)) width=(px((b - a).max(0.5))) y=(top) height=(height)
                    role="img" tabindex=(Focus::nth(i, steps.len()).tabindex())
                    data-cx=(px(f64::midpoint(a, b))) data-cy=(top) {
                    title { (readout(chart, s)) }
                }
            }
        } }
    }
}

fn readout(chart: &Area, step: &AreaStep) -> String {
    let mut text = format!("{:.2} to {:.2} s: ", step.from_s, step.to_s);
    if step.values.iter().any(|v| !v.is_finite()) {
        text.push_str("no data");
        return text;
    }
    let parts: Vec<String> = chart
        .layers
        .iter()
        .zip(&step.values)
        .map(|(l, v)| format!("{} {v:.1} {}", l.name, chart.unit))
        .collect();
    text.push_str(&parts.join(", "));
    text
}

/// Reduces the steps to at most `most` intervals: neighbours are averaged, weighted by their
/// lengths; a gap among them makes the result a gap.
fn merged(steps: &[AreaStep], most: usize) -> Vec<AreaStep> {
    if steps.len() <= most {
        return steps.to_vec();
    }
    steps
        .chunks(steps.len().div_ceil(most))
        .map(|chunk| {
            let layers = chunk.iter().map(|s| s.values.len()).max().unwrap_or(0);
            let length: f64 = chunk.iter().map(|s| s.to_s - s.from_s).sum();
            let values = (0..layers)
                .map(|l| {
                    let value = |s: &AreaStep| s.values.get(l).copied().unwrap_or(f64::NAN);
                    chunk.iter().map(|s| value(s) * (s.to_s - s.from_s)).sum::<f64>() / length
                })
                .collect();
            AreaStep { from_s: chunk[0].from_s, to_s: chunk[chunk.len() - 1].to_s, values }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(n: u32) -> Area {
        let layer = |name: &str| Layer { name: name.into(), class: name.into() };
        Area {
            head: Head { id: "cpu".into(), title: "CPU".into(), desc: "d".into() },
            name: "CPU time".into(),
            unit: "%".into(),
            full: Some(100.0),
            layers: vec![layer("user"), layer("system"), layer("idle")],
            steps: (0..n)
                .map(|i| AreaStep {
                    from_s: f64::from(i),
                    to_s: f64::from(i) + 1.0,
                    values: if i == 2 { vec![f64::NAN; 3] } else { vec![20.0, 30.0, 50.0] },
                })
                .collect(),
            phases: vec![
                PhaseSpan { name: "ramp-up".into(), from_s: 0.0, to_s: 1.0 },
                PhaseSpan { name: "steady".into(), from_s: 1.0, to_s: f64::from(n) },
            ],
            note: String::new(),
        }
    }

    #[test]
    fn is_as_drawn_before() {
        insta::assert_snapshot!(
            render_over(&chart(5), ScaleRanges::default()).into_string().replace("><", ">\n<")
        );
    }

    #[test]
    fn a_small_one_has_its_legend_apart() {
        let (small, full) =
            (render_small(&chart(500), ScaleRanges::default()).into_string(), chart(5));
        assert!(!small.contains("class=\"legend\"") && small.contains("viewBox=\"0 0 300 "));
        assert!(small.matches("class=\"m hit\"").count() <= 60);
        let legend = legend(&full.head, &full.layers).into_string();
        assert!(full.layers.iter().all(|l| legend.contains(&format!("fill layer-{}", l.class))));
    }

    #[test]
    fn a_gap_stays_empty() {
        let svg = render_over(&chart(5), ScaleRanges::default()).into_string();
        let user = svg.split("fill layer-user\" d=\"").nth(1).unwrap();
        assert_eq!(user.split('"').next().unwrap().matches('Z').count(), 2);
        assert!(svg.contains("2.00 to 3.00 s: no data") && !svg.contains("NaN"));
    }

    #[test]
    fn a_trial_below_a_second_has_its_axis_in_milliseconds() {
        let mut c = chart(5);
        c.phases.clear();
        for s in &mut c.steps {
            (s.from_s, s.to_s) = (s.from_s / 10.0, s.to_s / 10.0);
        }
        let svg = render_over(&c, ScaleRanges::default()).into_string();
        assert!(svg.contains("time since the beginning, ms") && svg.contains(">500<"));
    }

    #[test]
    fn long_runs_are_merged() {
        let svg = render_over(&chart(10_000), ScaleRanges::default()).into_string();
        assert!(svg.matches("class=\"m hit\"").count() <= 300);
    }
}
