//! Charts of values with their intervals, one row each: ratios to a baseline, and absolute values.

pub mod absolute;
pub mod ratio;

use maud::{Markup, html};

use crate::axes::frame::{fit, px, text_width};

/// Maximum width of the row labels.
const LABELS: f64 = 240.0;

/// Returns the width that the row labels need.
fn label_room<'a>(labels: impl Iterator<Item = &'a str>) -> f64 {
    let widest = labels.map(text_width).fold(0.0, f64::max);
    (widest + 16.0).clamp(60.0, LABELS)
}

/// Draws the label of a row at `y`, left of a plot that begins at `left`.
fn row_label(text: &str, y: f64, left: f64) -> Markup {
    html! { text x="2" y=(px(y + 4.0)) { (fit(text, left - 12.0)) title { (text) } } }
}
