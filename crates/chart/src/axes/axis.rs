//! Axes: a scale with its ticks, title and grid lines.

use assay_model::units;
use maud::{Markup, html};

use crate::axes::frame::{Head, PlotArea, WIDTH, fit, label, line, svg, text_width};
use crate::axes::scale::{Scale, ScaleKind};
use crate::axes::ticks::{Tick, nice_domain, thin, ticks};

/// An axis without a position: its quantity and domain.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    pub(crate) kind: ScaleKind,
    pub(crate) domain: (f64, f64),
    pub(crate) unit: String,
    factor: f64,
    shown_unit: String,
    /// True if only whole numbers get ticks.
    whole: bool,
    /// Value whose products with powers of two get ticks on a `Log2` axis.
    edge: f64,
}

impl Axis {
    /// Creates a linear axis, widened to whole steps, with one SI prefix for all labels.
    pub(crate) fn linear(domain: (f64, f64), unit: &str) -> Self {
        let reference = domain.0.abs().max(domain.1.abs());
        let (factor, shown_unit) = units::scale_of(reference, unit);
        let (low, high) = nice_domain(domain.0 / factor, domain.1 / factor, 6);
        let plain = Axis::log(ScaleKind::Linear, domain, unit);
        Axis { domain: (low * factor, high * factor), factor, shown_unit, ..plain }
    }

    /// Creates a linear axis with exactly this domain.
    pub(crate) fn exact(domain: (f64, f64), unit: &str) -> Self {
        Axis { domain, ..Axis::linear(domain, unit) }
    }

    /// Creates a linear axis for counts, with exactly this domain and ticks at whole numbers.
    pub(crate) fn counts(domain: (f64, f64)) -> Self {
        Axis { whole: true, ..Axis::exact(domain, "1") }
    }

    /// Creates a logarithmic axis with exactly this domain.
    pub(crate) fn log(kind: ScaleKind, domain: (f64, f64), unit: &str) -> Self {
        Axis {
            kind,
            domain,
            unit: unit.to_owned(),
            factor: 1.0,
            shown_unit: String::new(),
            whole: false,
            edge: 1.0,
        }
    }

    /// Creates a `Log2` axis for histogram rows that double from `domain.0`, with ticks at the
    /// edges of the rows. The edges are round numbers in the unit of the measurement (for example
    /// nanoseconds), though labels are in `unit` (seconds).
    pub(crate) fn doublings(domain: (f64, f64), unit: &str) -> Self {
        let edge = if domain.0.is_finite() && domain.0 > 0.0 { domain.0 } else { 1.0 };
        Axis { edge, ..Axis::log(ScaleKind::Log2, domain, unit) }
    }

    /// Returns the title with the unit of the labels: `throughput, GB/s`.
    pub(crate) fn title(&self, name: &str) -> String {
        if self.shown_unit.is_empty() {
            name.to_owned()
        } else {
            format!("{name}, {}", self.shown_unit)
        }
    }

    pub(crate) fn scale(&self, start: f64, end: f64) -> Scale {
        Scale::new(self.kind, self.domain, (start, end))
    }

    fn ticks(&self, scale: &Scale, most: usize) -> Vec<Tick> {
        let mut all = ticks(scale, most, &self.unit, self.factor, self.edge);
        if self.whole {
            all.retain(|t| t.value.fract() == 0.0);
            for t in &mut all {
                t.label = format!("{:.0}", t.value);
            }
        }
        all
    }

    /// Returns the width that the labels of a vertical axis need.
    pub(crate) fn label_room(&self) -> f64 {
        let scale = self.scale(0.0, 1.0);
        let widest = self.ticks(&scale, 6).iter().map(|t| text_width(&t.label)).fold(0.0, f64::max);
        (widest + 14.0).clamp(34.0, 120.0)
    }

    /// Draws the vertical axis at the left of `inner`: grid lines and labels.
    pub(crate) fn vertical(&self, inner: &PlotArea) -> Markup {
        let scale = self.scale(inner.bottom, inner.top);
        let kept = thin(self.ticks(&scale, 6), &scale, |_| 12.0);
        html! {
            g.axis.y aria-hidden="true" { @for tick in &kept {
                @if let Some(y) = scale.at(tick.value) {
                    (line("grid", (inner.left, y), (inner.right, y)))
                    (label("end", (inner.left - 7.0, y + 4.0), &tick.label))
                }
            } }
        }
    }

    /// Draws the horizontal axis at the bottom of `inner`: ticks, labels, and the title below.
    pub(crate) fn horizontal(&self, inner: &PlotArea, title: &str) -> Markup {
        let scale = self.scale(inner.left, inner.right);
        let mut kept = thin(self.ticks(&scale, 9), &scale, |t| text_width(&t.label));
        // A label at the edge is moved inward. If it would cover its neighbour there, it is
        // dropped.
        let middle = |t: &Tick| {
            let x = scale.at(t.value)?;
            Some(x.min(inner.width - text_width(&t.label) / 2.0 - 1.0))
        };
        if let [.., before, last] = kept.as_slice()
            && let (Some(a), Some(b)) = (middle(before), middle(last))
            && b - a < f64::midpoint(text_width(&before.label), text_width(&last.label))
        {
            kept.pop();
        }
        let PlotArea { left, right, bottom, .. } = *inner;
        html! {
            g.axis.x aria-hidden="true" {
                (line("base", (left, bottom), (right, bottom)))
                @for tick in &kept {
                    @if let (Some(x), Some(middle)) = (scale.at(tick.value), middle(tick)) {
                        (line("tick", (x, bottom), (x, bottom + 5.0)))
                        (label("mid", (middle, bottom + 19.0), &tick.label))
                    }
                }
                (label("mid name", (f64::midpoint(left, right), bottom + 38.0), title))
            }
        }
    }

    /// Draws the vertical grid lines of a horizontal axis.
    pub(crate) fn upright_grid(&self, inner: &PlotArea) -> Markup {
        let scale = self.scale(inner.left, inner.right);
        let kept = thin(self.ticks(&scale, 9), &scale, |t| text_width(&t.label));
        html! {
            g.axis aria-hidden="true" { @for x in kept.iter().filter_map(|t| scale.at(t.value)) {
                (line("grid", (x, inner.top), (x, inner.bottom)))
            } }
        }
    }
}

/// Draws the two texts above a plot in a chart of this width: the title of the vertical axis, and
/// the direction in which values improve, which is shortened to the remaining space.
pub(crate) fn heading(width: f64, left: &str, right: &str) -> Markup {
    html! {
        (label("name", (2.0, 14.0), left))
        (label("end note", (width - 4.0, 14.0), &fit(right, width - 16.0 - text_width(left))))
    }
}

/// Draws a chart whose plot ends at `bottom`, with a note on a line of its own below the axis
/// title.
pub(crate) fn noted(head: &Head, class: &str, bottom: f64, note: &str, body: &Markup) -> Markup {
    let body = html! {
        (body)
        @if !note.is_empty() { (label("end note", (WIDTH - 4.0, bottom + 57.0), note)) }
    };
    svg(head, class, foot(bottom, note), &body)
}

/// Returns the height of a chart whose plot ends at `bottom` and that has this note.
pub(crate) fn foot(bottom: f64, note: &str) -> f64 {
    bottom + if note.is_empty() { 46.0 } else { 64.0 }
}

/// Returns `↑ higher is better` or `↓ lower is better`, or an empty text.
pub(crate) fn direction(better: assay_model::Better) -> String {
    match better {
        assay_model::Better::Higher => format!("↑ {}", better.words()),
        assay_model::Better::Lower => format!("↓ {}", better.words()),
        assay_model::Better::Neither => String::new(),
    }
}
