//! Marks: the shapes that stand for values. Colour and shape both tell the series, so that neither
//! is the only carrier.

use maud::{Markup, html};

use crate::frame::px;

/// How many series have a colour of their own; further ones repeat colours with other shapes.
pub(crate) const COLOURS: usize = 8;

/// The class that colours a series.
pub(crate) fn series_class(series: usize) -> String {
    format!("s{}", series % COLOURS)
}

/// The class that dashes the line of a series that repeats a colour.
pub(crate) fn dash_class(series: usize) -> &'static str {
    match series / COLOURS {
        0 => "",
        1 => " dashed",
        _ => " dotted",
    }
}

/// The outline of the shape of a series around a point.
pub(crate) fn shape(series: usize, x: f64, y: f64, r: f64) -> String {
    let p = px;
    // Every colour has a shape of its own; a repeated colour takes the next shape.
    match (series + series / COLOURS) % COLOURS {
        0 => format!(
            "M{} {}a{r} {r} 0 1 0 {} 0a{r} {r} 0 1 0 {} 0Z",
            p(x - r),
            p(y),
            p(2.0 * r),
            p(-2.0 * r),
            r = p(r)
        ),
        1 => {
            let h = r * 0.9;
            format!("M{} {}h{}v{}h{}Z", p(x - h), p(y - h), p(2.0 * h), p(2.0 * h), p(-2.0 * h))
        }
        2 => {
            let h = r * 1.15;
            format!("M{} {}l{} {}h{}Z", p(x), p(y - h), p(h), p(2.0 * h), p(-2.0 * h))
        }
        3 => {
            let h = r * 1.25;
            format!(
                "M{} {}l{} {}l{} {}l{} {}Z",
                p(x),
                p(y - h),
                p(h),
                p(h),
                p(-h),
                p(h),
                p(-h),
                p(-h)
            )
        }
        4 => {
            let h = r * 1.15;
            format!("M{} {}l{} {}h{}Z", p(x), p(y + h), p(h), p(-2.0 * h), p(-2.0 * h))
        }
        5 => {
            let (h, t) = (r * 1.2, r * 0.8);
            format!(
                "M{} {}h{t}v{t}h{t}v{t}h{m}v{t}h{m}v{m}h{m}v{m}h{t}Z",
                p(x - t / 2.0),
                p(y - h),
                t = p(t),
                m = p(-t)
            )
        }
        6 => {
            let h = r * 1.15;
            format!("M{} {}l{} {}l{} {}Z", p(x + h), p(y), p(-2.0 * h), p(h), "0", p(-2.0 * h))
        }
        _ => {
            let h = r * 1.1;
            format!(
                "M{} {}h{}L{} {}h{}Z",
                p(x - h),
                p(y - h),
                p(2.0 * h),
                p(x - h),
                p(y + h),
                p(2.0 * h)
            )
        }
    }
}

/// Whether a mark is a stop of the tab key; the others are reached with the arrow keys where a
/// script runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Focus {
    Stop,
    Skip,
}

impl Focus {
    /// Every mark of a chart of up to 40 is a stop; of more, about 20 are.
    pub(crate) fn of(index: usize, total: usize) -> Self {
        if total <= 40 || index.is_multiple_of(total.div_ceil(20)) {
            Focus::Stop
        } else {
            Focus::Skip
        }
    }

    pub(crate) fn tabindex(self) -> &'static str {
        if self == Focus::Stop { "0" } else { "-1" }
    }
}

/// A mark that says its value: `label` is read aloud and shown on hover.
pub(crate) fn mark(class: &str, d: &str, at: (f64, f64), label: &str, focus: Focus) -> Markup {
    html! {
        path class={ "m " (class) } d=(d) role="img" tabindex=(focus.tabindex())
            data-cx=(px(at.0)) data-cy=(px(at.1)) { title { (label) } }
    }
}

/// A mark that leads to where its trial is described; a plain one where `href` is empty.
pub(crate) fn link(
    class: &str,
    d: &str,
    at: (f64, f64),
    label: &str,
    focus: Focus,
    href: &str,
) -> Markup {
    if href.is_empty() {
        return mark(class, d, at, label, focus);
    }
    html! {
        a class={ "m" @if !class.is_empty() { " " (class) } } href=(href) tabindex=(focus.tabindex())
            data-cx=(px(at.0)) data-cy=(px(at.1)) {
            title { (label) }
            path d=(d) {}
        }
    }
}

/// The interval from `low` to `high` (positions) along a row at `y`, with ends that reach `half` up
/// and down.
pub(crate) fn whisker(low: f64, high: f64, y: f64, half: f64) -> Markup {
    let (low, high, top, length) = (px(low), px(high), px(y - half), px(2.0 * half));
    let d = format!("M{low} {top}v{length}M{low} {}H{high}M{high} {top}v{length}", px(y));
    html! { path class="whisker" d=(d) {} }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_of_sixteen_series_share_colour_and_shape() {
        let looks: std::collections::BTreeSet<(String, String)> =
            (0..16).map(|i| (series_class(i), shape(i, 50.0, 50.0, 4.0))).collect();
        assert_eq!(looks.len(), 16);
        let shapes: std::collections::BTreeSet<String> =
            (0..COLOURS).map(|i| shape(i, 50.0, 50.0, 4.0)).collect();
        assert_eq!(shapes.len(), COLOURS, "colour is not the only difference");
    }
}
