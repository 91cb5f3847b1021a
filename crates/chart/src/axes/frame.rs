//! Frame of a chart: the SVG element with title and description, and the box inside the axes.

use std::fmt::Write as _;

use maud::{Markup, html};

/// Width of a chart in SVG user units.
pub const WIDTH: f64 = 760.0;
/// Width of a chart that takes half a row: its text is as large as in a chart of full width.
pub const NARROW: f64 = 440.0;

/// Estimated width of a character of chart text, in user units, for laying out labels. It exceeds
/// the average of system fonts so that estimates err towards more space.
pub(crate) const CHARACTER: f64 = 6.7;

/// Id, title and description of a chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Head {
    /// Id that is unique on the page: lower-case letters, digits, `-`.
    pub id: String,
    /// Title of the chart, a few words.
    pub title: String,
    /// Description of the chart's content, for people who cannot see it.
    pub desc: String,
}

/// The box inside the axes, in user units.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlotArea {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    /// Width of the whole chart.
    pub(crate) width: f64,
}

impl PlotArea {
    /// Creates the box of a plot in a chart of this width: from `left` to the right margin, and
    /// from `top` down by `height`.
    pub(crate) fn plot(width: f64, left: f64, top: f64, height: f64) -> Self {
        PlotArea { left, right: width - 14.0, top, bottom: top + height, width }
    }
}

/// Draws the whole SVG element. Its role is `group`, not `img`: an image hides its content from
/// assistive technology, and the marks inside are images that can be focused and read.
pub(crate) fn svg(head: &Head, class: &str, height: f64, body: &Markup) -> Markup {
    svg_spanned(WIDTH, head, class, height, None, body)
}

/// Like [`svg`], with this width; `span` is the domain of the time axis in seconds and its range in
/// user units.
pub(crate) fn svg_spanned(
    width: f64,
    head: &Head,
    class: &str,
    height: f64,
    span: Option<&str>,
    body: &Markup,
) -> Markup {
    let title = format!("{}-title", head.id);
    let desc = format!("{}-desc", head.id);
    html! {
        svg class={ "chart " (class) } xmlns="http://www.w3.org/2000/svg" id=(head.id)
            viewBox={ "0 0 " (px(width)) " " (px(height)) } role="group"
            data-span=[span] aria-roledescription="chart" aria-labelledby={ (title) " " (desc) } {
            title id=(title) { (head.title) }
            desc id=(desc) { (head.desc) }
            (body)
        }
    }
}

/// Draws the line that a script moves with the pointer; without a script it stays outside the
/// chart.
pub(crate) fn crosshair(inner: &PlotArea) -> Markup {
    line("crosshair", (-9.0, inner.top), (-9.0, inner.bottom))
}

/// Returns the value of an attribute `class`, which is absent if there is no class.
fn classes(class: &str) -> Option<&str> {
    (!class.is_empty()).then_some(class)
}

/// Draws a line between two points.
pub(crate) fn line(class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> Markup {
    html! { line class=[classes(class)] x1=(px(x1)) x2=(px(x2)) y1=(px(y1)) y2=(px(y2)) {} }
}

/// Draws a rectangle from its top left corner, with a title that is shown on hover.
pub(crate) fn rect(class: &str, (x, y): (f64, f64), size: (f64, f64), title: &str) -> Markup {
    html! {
        rect class=(class) x=(px(x)) y=(px(y)) width=(px(size.0)) height=(px(size.1)) {
            title { (title) }
        }
    }
}

/// Draws a text whose baseline is at `y`; the class places it before, around or after `x`.
pub(crate) fn label(class: &str, (x, y): (f64, f64), text: &str) -> Markup {
    html! { text class=[classes(class)] x=(px(x)) y=(px(y)) { (text) } }
}

/// Formats a coordinate with one decimal, or none if it is zero.
pub(crate) fn px(value: f64) -> String {
    let mut text = format!("{value:.1}");
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
    if text == "-0" { "0".to_owned() } else { text }
}

/// Estimates the width of a text in user units.
pub(crate) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// Shortens the text in the middle until it is at most `most` user units wide.
pub(crate) fn fit(text: &str, most: f64) -> String {
    crate::axes::text::shorten(text, (most / CHARACTER).floor().max(3.0) as usize, "…")
}

/// Builds the outline of a rectangle from its top left corner.
pub(crate) fn outline((x, y): (f64, f64), (wide, high): (f64, f64)) -> String {
    format!("M{} {}h{}v{}h{}Z", px(x), px(y), px(wide), px(high), px(-wide))
}

/// Builds a path through points, broken where a point is missing.
pub(crate) fn path(points: impl Iterator<Item = Option<(f64, f64)>>) -> String {
    let mut d = String::new();
    let mut pen_down = false;
    for point in points {
        match point {
            Some((x, y)) => {
                let _ = write!(d, "{}{} {}", if pen_down { 'L' } else { 'M' }, px(x), px(y));
                pen_down = true;
            }
            None => pen_down = false,
        }
    }
    d
}

/// Builds closed shapes between two edges, one for each stretch without a gap. The points are
/// `(x, low, high)`.
pub(crate) fn band(points: impl Iterator<Item = Option<(f64, f64, f64)>>) -> String {
    let mut d = String::new();
    let mut stretch: Vec<(f64, f64, f64)> = Vec::new();
    for point in points.chain(std::iter::once(None)) {
        if let Some(p) = point {
            stretch.push(p);
        } else if !stretch.is_empty() {
            for (i, (x, _, high)) in stretch.iter().enumerate() {
                let _ = write!(d, "{}{} {}", if i == 0 { 'M' } else { 'L' }, px(*x), px(*high));
            }
            for (x, low, _) in stretch.iter().rev() {
                let _ = write!(d, "L{} {}", px(*x), px(*low));
            }
            d.push('Z');
            stretch.clear();
        }
    }
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_breaks_the_line() {
        let d = path([Some((0.0, 1.0)), Some((1.0, 1.25)), None, Some((3.0, 2.0))].into_iter());
        assert_eq!(d, "M0 1L1 1.2M3 2");
    }

    #[test]
    fn each_stretch_is_a_shape() {
        let d = band([Some((0.0, 1.0, 2.0)), None, Some((3.0, 1.0, 2.0))].into_iter());
        assert_eq!(d, "M0 2L0 1ZM3 2L3 1Z");
    }
}
