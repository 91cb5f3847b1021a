//! Common parts of charts over time: the plot with its time axis, and the shaded, labelled phases.

use maud::{Markup, html};

use crate::axes::axis::{Axis, foot, heading};
use crate::axes::frame::{
    Head, PlotArea, crosshair, fit, label, line, px, rect, svg_spanned, text_width,
};
use crate::axes::legend::{LegendKey, legend};
use crate::axes::scale::{Scale, extent};

/// A phase of a trial, in seconds from the trial's start.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseSpan {
    /// Name of the phase: `ramp-up`, `steady`, `ramp-down`.
    pub name: String,
    pub from_s: f64,
    pub to_s: f64,
}

/// A plot over the time of a trial: its legend, axes and phases, and the scales for its data.
pub(crate) struct Timeline<'a> {
    phases: &'a [PhaseSpan],
    legend: Markup,
    x_axis: Axis,
    y_axis: Axis,
    pub(crate) inner: PlotArea,
    pub(crate) x: Scale,
    pub(crate) y: Scale,
}

impl<'a> Timeline<'a> {
    /// Lays out a plot of this height below its legend, in a chart of this width. Its time axis
    /// covers exactly the `moments` of the data and the phases.
    pub(crate) fn new(
        width: f64,
        moments: impl Iterator<Item = f64>,
        phases: &'a [PhaseSpan],
        y_axis: Axis,
        keys: &[LegendKey],
        height: f64,
    ) -> Self {
        let ends = phases.iter().flat_map(|p| [p.from_s, p.to_s]);
        let x_axis = Axis::exact(extent(moments.chain(ends)).unwrap_or((0.0, 1.0)), "s");
        let (legend, legend_height) = legend(width, keys);
        // The names of the phases are between the legend and the plot.
        let inner = PlotArea::plot(width, y_axis.label_room(), 54.0 + legend_height, height);
        let x = x_axis.scale(inner.left, inner.right);
        let y = y_axis.scale(inner.bottom, inner.top);
        Timeline { phases, legend, x_axis, y_axis, inner, x, y }
    }

    /// Draws the parts behind the data: heading, legend and phases.
    pub(crate) fn ground(&self, name: &str, note: &str) -> Markup {
        html! {
            (heading(self.inner.width, &self.y_axis.title(name), note))
            (self.legend)
            (shades(self.phases, &self.x, &self.inner))
        }
    }

    /// Draws both axes and the crosshair.
    pub(crate) fn axes(&self) -> Markup {
        html! {
            (self.y_axis.vertical(&self.inner))
            (self.x_axis.horizontal(&self.inner, &self.x_axis.title("time since the beginning")))
            (crosshair(&self.inner))
        }
    }

    /// Wraps `body` into the complete chart.
    pub(crate) fn svg(&self, head: &Head, class: &str, body: &Markup) -> Markup {
        let (from, to) = self.x_axis.domain;
        // For a crosshair that moves through all charts with the same clock.
        let span = format!("{from} {to} {} {}", px(self.inner.left), px(self.inner.right));
        svg_spanned(self.inner.width, head, class, foot(self.inner.bottom, ""), Some(&span), body)
    }
}

/// Draws the phases as shaded areas, with their names above the plot.
fn shades(spans: &[PhaseSpan], x: &Scale, inner: &PlotArea) -> Markup {
    let (top, height) = (inner.top - 18.0, inner.bottom - inner.top + 18.0);
    html! {
        g.phases { @for p in spans {
            @if let (Some(a), Some(b)) = (x.clamped(p.from_s), x.clamped(p.to_s)) {
                @if b > a {
                    @let name = &p.name;
                    @let title = format!("{name} from {:.2} s to {:.2} s", p.from_s, p.to_s);
                    (rect(&format!("phase phase-{name}"), (a, top), (b - a, height), &title))
                    (line("phase-edge", (a, top), (a, inner.bottom)))
                    // A name without enough space is only in the title of the shaded area.
                    @if b - a >= text_width(name) + 6.0 {
                        @let at = (f64::midpoint(a, b), inner.top - 5.0);
                        (label("note mid", at, &fit(name, b - a)))
                    }
                }
            }
        } }
    }
}
