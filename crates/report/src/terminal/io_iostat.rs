//! Logs of iostat: each device's mean and greatest values, and every interval on request.

use assay_iotrace::IostatLog;
use assay_model::units::significant;

use super::Style;
use super::io::optional;
use super::writer::Writer;
use crate::document::{Cell, Table, Tone, cell};

/// The columns that are shown when there are more than fit, by what they tell.
const SHOWN: [&str; 17] = [
    "r/s", "w/s", "kr/s", "kw/s", "rkB/s", "wkB/s", "r_await", "w_await", "await", "aqu-sz",
    "wait", "actv", "wsvc_t", "asvc_t", "%w", "%b", "%util",
];

/// The devices of a log; with `intervals` also a table of its rows by device.
pub fn iostat(log: &IostatLog, intervals: bool, style: Style) -> String {
    let mut w = Writer::new(style);
    w.heading(&format!("iostat of {}: {} intervals", log.system, log.intervals));
    w.wrapped(
        0,
        "The first interval of iostat is the mean since boot (unless it was left out with -y), so it is \
         in no mean or maximum here. With -z the intervals without I/O are not in the log, so a mean is \
         that of the others.",
        Tone::Soft,
    );
    let shown: Vec<usize> =
        SHOWN.iter().filter_map(|name| log.columns.iter().position(|c| c == name)).collect();
    let mut out = w.finish();
    for (title, max) in [("mean", false), ("greatest", true)] {
        let mut table = Table::default().label(title).number("n");
        for at in &shown {
            table = table.number(&log.columns[*at]);
        }
        for device in &log.devices {
            let values = if max { &device.max } else { &device.mean };
            let mut row = vec![cell(device.name.clone()), cell(device.intervals.to_string())];
            row.extend(shown.iter().map(|at| value(values.get(*at).copied().flatten())));
            table.row(row);
        }
        out.push('\n');
        out.push_str(&table.render(style));
    }
    if intervals {
        out.push_str(&rows(log, &shown, style));
    }
    out.push_str(&left_out(log, style));
    out
}

fn rows(log: &IostatLog, shown: &[usize], style: Style) -> String {
    let mut out = String::new();
    for (at, device) in log.devices.iter().enumerate() {
        let mut w = Writer::new(style);
        w.heading(&device.name);
        let mut table = Table::default().number("interval");
        for column in shown {
            table = table.number(&log.columns[*column]);
        }
        for row in log.rows.iter().filter(|r| r.device == at) {
            let mut cells = vec![cell(row.interval.to_string())];
            cells.extend(shown.iter().map(|c| value(row.values.get(*c).copied().flatten())));
            table.row(cells);
        }
        out.push('\n');
        out.push_str(&w.finish());
        out.push_str(&table.render(style));
    }
    out
}

fn value(value: Option<f64>) -> Cell {
    optional(value, |v| significant(v, 4))
}

fn left_out(log: &IostatLog, style: Style) -> String {
    let mut w = Writer::new(style);
    if log.rows_left_out > 0 {
        w.wrapped(0, &format!("{} rows are only in the means", log.rows_left_out), Tone::Warn);
    }
    if log.unreadable > 0 {
        w.wrapped(0, &format!("{} lines could not be read", log.unreadable), Tone::Warn);
    }
    w.finish()
}
