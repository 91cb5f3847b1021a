//! Columns shared by the tables of differences between two treatments: functions, instructions and
//! system calls.

use assay_model::units::percent;

use crate::document::{Table, TableCell, Tone, cell};

/// Adds the columns of both sides, of their difference and of its interval.
pub(crate) fn columns(of: Table, labels: [&str; 2], confidence: f64) -> Table {
    let interval = format!("{} CI", percent(confidence));
    of.numbers([labels[0], labels[1], "difference"]).words([interval.as_str(), "clear"])
}

/// Returns the cells of a difference and of its interval.
pub(crate) fn cells(
    difference: f64,
    interval: Option<[f64; 2]>,
    write: impl Fn(f64) -> String,
) -> [TableCell; 2] {
    let signed = |v: f64| format!("{}{}", if v > 0.0 { "+" } else { "" }, write(v));
    let ends = interval.map(|[low, high]| format!("[{}, {}]", signed(low), signed(high)));
    [cell(signed(difference)), cell(ends.unwrap_or_else(|| "-".to_owned()))]
}

/// Returns the cell of a clear difference.
pub(crate) fn clear(difference: f64) -> TableCell {
    cell("yes").tone(if difference > 0.0 { Tone::Warn } else { Tone::Good })
}
