//! Logs of iostat: the mean and maximum of each device and, on request, every interval.

use assay_model::units::significant;
use assay_traces::block_io::IostatLog;

use super::Style;
use crate::document::{DocumentPart, Parts, Table, TableCell, Tone, cell, terminal};
use crate::parts::io::optional;

/// Columns that are shown, in the order of the output.
const SHOWN: [&str; 17] = [
    "r/s", "w/s", "kr/s", "kw/s", "rkB/s", "wkB/s", "r_await", "w_await", "await", "aqu-sz",
    "wait", "actv", "wsvc_t", "asvc_t", "%w", "%b", "%util",
];

/// Formats the devices of a log; with `intervals` also a table of each device's rows.
pub fn iostat(log: &IostatLog, intervals: bool, style: Style) -> String {
    let mut all = Parts::default();
    all.titled(format!("iostat of {}: {} intervals", log.system, log.intervals));
    all.note(
        "The first interval of iostat is the mean since boot (unless it was left out with -y), so \
         it is in no mean or maximum here. With -z the intervals without I/O are not in the log, \
         so a mean is that of the others.",
    );
    let shown: Vec<usize> =
        SHOWN.iter().filter_map(|name| log.columns.iter().position(|c| c == name)).collect();
    let columns = |first: Table| first.numbers(shown.iter().map(|at| log.columns[*at].as_str()));
    let cells = |values: &[Option<f64>]| -> Vec<TableCell> {
        let four = |v| significant(v, 4);
        shown.iter().map(|at| optional(values.get(*at).copied().flatten(), four)).collect()
    };
    for (title, max) in [("mean", false), ("max", true)] {
        let mut table = columns(Table::default().label(title).number("n"));
        for device in &log.devices {
            let mut row = vec![cell(device.name.clone()), cell(device.intervals.to_string())];
            row.extend(cells(if max { &device.max } else { &device.mean }));
            table.row(row);
        }
        all.table(table);
    }
    for (at, device) in log.devices.iter().enumerate().filter(|_| intervals) {
        let mut table = columns(Table::captioned(device.name.clone()).number("interval"));
        for row in log.rows.iter().filter(|r| r.device == at) {
            let mut interval = vec![cell(row.interval.to_string())];
            interval.extend(cells(&row.values));
            table.row(interval);
        }
        all.table(table);
    }
    for (n, what) in [
        (log.rows_excluded, "rows are only in the means"),
        (log.unreadable, "lines could not be read"),
    ] {
        if n > 0 {
            all.push(DocumentPart::Paragraph(Tone::Warn, format!("{n} {what}").into()));
        }
    }
    terminal::parts(&all, style)
}
