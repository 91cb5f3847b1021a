//! What charts over time share: the axis of seconds and the shaded, labelled phases.

use maud::{Markup, html};

use crate::axis::Axis;
use crate::frame::{Inner, fit, px, text_width};
use crate::scale::Scale;

/// A phase of a trial, seconds from the trial's start.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseSpan {
    /// `ramp-up`, `steady`, `ramp-down`.
    pub name: String,
    /// From when.
    pub from_s: f64,
    /// Until when.
    pub to_s: f64,
}

/// The axis of seconds from `from` to `to`, exactly.
pub(crate) fn axis(from: f64, to: f64) -> Axis {
    Axis::exact((from, to), "s")
}

/// Shades behind the data, and names above it.
pub(crate) fn phases(spans: &[PhaseSpan], x: &Scale, inner: &Inner) -> Markup {
    html! {
        g class="phases" {
            @for span in spans {
                @if let (Some(a), Some(b)) = (x.clamped(span.from_s), x.clamped(span.to_s)) {
                    @if b > a {
                        rect class={ "phase phase-" (span.name) } x=(px(a)) y=(px(inner.top - 18.0)) width=(px(b - a)) height=(px(inner.bottom - inner.top + 18.0)) {
                            title { (span.name) " from " (format!("{:.2}", span.from_s)) " s to " (format!("{:.2}", span.to_s)) " s" }
                        }
                        line class="phase-edge" x1=(px(a)) x2=(px(a)) y1=(px(inner.top - 18.0)) y2=(px(inner.bottom)) {}
                        // A name that has no room is left to the title of its shade.
                        @if b - a >= text_width(&span.name) + 6.0 {
                            text class="note mid" x=(px(f64::midpoint(a, b))) y=(px(inner.top - 5.0)) { (fit(&span.name, b - a)) }
                        }
                    }
                }
            }
        }
    }
}
