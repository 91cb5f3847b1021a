//! Marks: the shapes that represent values. Colour and shape both identify the series, so that
//! neither is needed alone.

use maud::{Markup, html};

use crate::axes::frame::{outline, px};

/// Number of series with a colour of their own; further series repeat the colours with other
/// shapes.
pub(crate) const COLOURS: usize = 8;

/// Returns the CSS class that colours a series.
pub(crate) fn series_class(series: usize) -> String {
    format!("s{}", series % COLOURS)
}

/// Returns the CSS classes of a series that is drawn as a line; a repeated colour is dashed.
pub(crate) fn line_class(series: usize) -> String {
    series_class(series) + ["", " dashed", " dotted"][(series / COLOURS).min(2)]
}

/// Returns the outline of a series' shape around a point.
pub(crate) fn shape(series: usize, (x, y): (f64, f64), r: f64) -> String {
    let p = px;
    // Every colour has a shape of its own; a repeated colour takes the next shape.
    match (series + series / COLOURS) % COLOURS {
        0 => {
            let (left, r, there, back) = (p(x - r), p(r), p(2.0 * r), p(-2.0 * r));
            format!("M{left} {}a{r} {r} 0 1 0 {there} 0a{r} {r} 0 1 0 {back} 0Z", p(y))
        }
        1 => {
            let h = r * 0.9;
            outline((x - h, y - h), (2.0 * h, 2.0 * h))
        }
        2 => {
            let h = r * 1.15;
            format!("M{} {}l{} {}h{}Z", p(x), p(y - h), p(h), p(2.0 * h), p(-2.0 * h))
        }
        3 => {
            let h = r * 1.25;
            let (top, h, m) = (p(y - h), p(h), p(-h));
            format!("M{} {top}l{h} {h}l{m} {h}l{m} {m}Z", p(x))
        }
        4 => {
            let h = r * 1.15;
            format!("M{} {}l{} {}h{}Z", p(x), p(y + h), p(h), p(-2.0 * h), p(-2.0 * h))
        }
        5 => {
            let (h, t) = (r * 1.2, r * 0.8);
            let (left, top, t, m) = (p(x - t / 2.0), p(y - h), p(t), p(-t));
            format!("M{left} {top}h{t}v{t}h{t}v{t}h{m}v{t}h{m}v{m}h{m}v{m}h{t}Z")
        }
        6 => {
            let h = r * 1.15;
            format!("M{} {}l{} {}l{} {}Z", p(x + h), p(y), p(-2.0 * h), p(h), "0", p(-2.0 * h))
        }
        _ => {
            let h = r * 1.1;
            let (left, wide) = (p(x - h), p(2.0 * h));
            format!("M{left} {}h{wide}L{left} {}h{wide}Z", p(y - h), p(y + h))
        }
    }
}

/// Keyboard focus of a mark: `Stop` for a stop of the tab key. The other marks are reached with the
/// arrow keys if a script runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Focus {
    Stop,
    Skip,
}

impl Focus {
    /// Makes every mark a stop if the chart has up to 40 marks, and about 20 of them otherwise.
    pub(crate) fn nth(index: usize, total: usize) -> Self {
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

/// Draws a mark with its value: `label` is read aloud and shown on hover.
pub(crate) fn mark(class: &str, d: &str, at: (f64, f64), label: &str, focus: Focus) -> Markup {
    html! {
        path class={ "m " (class) } d=(d) role="img" tabindex=(focus.tabindex())
            data-cx=(px(at.0)) data-cy=(px(at.1)) { title { (label) } }
    }
}

/// Draws a mark that links to the description of its trial; a plain mark if `href` is empty.
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
        a class={ "m" @if !class.is_empty() { " " (class) } } href=(href)
            tabindex=(focus.tabindex()) data-cx=(px(at.0)) data-cy=(px(at.1)) {
            title { (label) }
            path d=(d) {}
        }
    }
}

/// Draws an interval from position `low` to `high` along a row at `y`, with end caps that extend by
/// `half` up and down.
pub(crate) fn whisker(low: f64, high: f64, y: f64, half: f64) -> Markup {
    let (low, high, top, length) = (px(low), px(high), px(y - half), px(2.0 * half));
    let d = format!("M{low} {top}v{length}M{low} {}H{high}M{high} {top}v{length}", px(y));
    html! { path.whisker d=(d) {} }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_of_sixteen_series_share_colour_and_shape() {
        let looks: std::collections::BTreeSet<(String, String)> =
            (0..16).map(|i| (series_class(i), shape(i, (50.0, 50.0), 4.0))).collect();
        assert_eq!(looks.len(), 16);
        let shapes: std::collections::BTreeSet<String> =
            (0..COLOURS).map(|i| shape(i, (50.0, 50.0), 4.0)).collect();
        assert_eq!(shapes.len(), COLOURS, "colour is not the only difference");
    }
}
