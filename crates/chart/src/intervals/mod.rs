//! Values with their intervals, a row each: ratios to a baseline, and absolute values.

pub mod absolute;
pub mod ratio;

/// The height of a row in user units.
const ROW: f64 = 30.0;

/// The most room that row labels at the left may take.
const LABELS: f64 = 240.0;

/// How much room the labels of rows need.
fn label_room<'a>(labels: impl Iterator<Item = &'a str>) -> f64 {
    let widest = labels.map(crate::frame::text_width).fold(0.0, f64::max);
    (widest + 16.0).clamp(60.0, LABELS)
}
