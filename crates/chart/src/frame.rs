//! The frame of a chart: the SVG element with its title and description, and the box inside the
//! axes.

use std::fmt::Write as _;

use maud::{Markup, html};

/// The width of a chart in SVG user units.
pub const WIDTH: f64 = 760.0;
/// The width of a chart of which two stand beside each other: in half the room its text is as large.
pub const NARROW: f64 = 440.0;

/// The width of an average character of chart text, in user units: labels are laid out by it, and
/// it is wider than the system fonts' average so that estimates err towards room.
pub(crate) const CHARACTER: f64 = 6.7;

/// What every chart says about itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Head {
    /// An id that is unique on the page: lower-case letters, digits, `-`.
    pub id: String,
    /// What the chart shows, in a few words.
    pub title: String,
    /// What it says, for a person who cannot see it.
    pub desc: String,
}

/// The box inside the axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inner {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    /// How wide the whole chart is.
    pub(crate) width: f64,
}

impl Inner {
    /// The box of a plot in a chart of this width: from `left` to the margin at the right, `height` high from `top` down.
    pub(crate) fn plot(width: f64, left: f64, top: f64, height: f64) -> Self {
        Inner { left, right: width - 14.0, top, bottom: top + height, width }
    }
}

/// The whole SVG element. Its role is `group`, not `img`: an image hides what is inside it from
/// assistive technology, and the marks inside are images that can be focused and read.
pub(crate) fn svg(head: &Head, class: &str, height: f64, body: &Markup) -> Markup {
    svg_spanned(WIDTH, head, class, height, None, body)
}

/// As [`svg`], of this width; `span` is the reach of the axis of time, in seconds and in user units.
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

/// The line that a script moves under the pointer; without one it is never seen.
pub(crate) fn crosshair(inner: &Inner) -> Markup {
    html! {
        line class="crosshair" x1="-9" x2="-9" y1=(px(inner.top)) y2=(px(inner.bottom)) {}
    }
}

/// A coordinate in as few characters as are exact to a tenth of a unit.
pub(crate) fn px(value: f64) -> String {
    let mut text = format!("{value:.1}");
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
    if text == "-0" { "0".to_owned() } else { text }
}

/// The estimated width of a text in user units.
pub(crate) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// The text shortened in the middle until it is at most `most` user units wide.
pub(crate) fn fit(text: &str, most: f64) -> String {
    crate::text::shorten(text, (most / CHARACTER).floor().max(3.0) as usize, "…")
}

/// A path through points, broken where a point is missing.
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

/// Closed shapes between two edges over the same x: one for each stretch without a gap. Points are
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
