//! Locations of a device's I/Os: the device as a line of 64 characters, and its busiest regions.

use assay_chart::axes::text::{bar, sparkline};
use assay_model::units::{format_bytes, format_value_digits};
use assay_traces::block_io::{BLOCK_BYTES, IoReport, RegionMap};

use super::Style;
use crate::document::{DocumentPart, Parts, Table, cell};
use crate::parts::io::optional;

/// Length in characters of the line that represents a device.
const LINE: usize = 64;

/// Adds a table of each device's sequential share and of the regions that its I/Os touch.
pub(super) fn devices(report: &IoReport, all: &mut Parts) {
    let mut table =
        Table::default().label("device").numbers(["I/Os", "sequential", "regions used", "of"]);
    for d in &report.devices {
        table.row(vec![
            cell(d.device.clone()),
            cell(d.ios.to_string()),
            optional(d.seeks.sequential_share, |s| format!("{:.1} %", 100.0 * s)),
            // Without addresses there are no regions.
            optional((d.regions.occupied > 0).then_some(&d.regions), |r| {
                format!("{} of {}", r.occupied, r.counts.len())
            }),
            optional((d.regions.occupied > 0).then_some(&d.regions), |r| size(r.region_blocks)),
        ]);
    }
    all.table(table);
    let more = report.devices_in_all - report.devices.len();
    if more > 0 {
        all.note(format!("and {more} more, less busy"));
    }
}

/// Formats a size in blocks as bytes; a power of two needs no digits.
fn size(blocks: u64) -> String {
    match blocks.checked_mul(BLOCK_BYTES) {
        Some(bytes) => format_bytes(bytes),
        None => format_value_digits(blocks as f64 * BLOCK_BYTES as f64, "B", 3),
    }
}

/// Adds the map of the regions.
pub(super) fn regions(map: &RegionMap, style: Style, all: &mut Parts) {
    let used = map.counts.len();
    if used == 0 {
        all.note("no I/O of this kind");
        return;
    }
    let columns = used.min(LINE);
    let folded: Vec<f64> = (0..columns)
        .map(|c| {
            let part = used * c / columns..used * (c + 1) / columns;
            let n: u64 = map.counts[part].iter().sum();
            // An empty part is a gap. As a bar of height 0 it would change the scale, and a part
            // with one I/O could look like one with many.
            if n == 0 { f64::NAN } else { (n as f64).ln_1p() }
        })
        .collect();
    all.push(DocumentPart::Code("", format!("  |{}|", sparkline(&folded, style.glyphs))));
    let end = map.from.saturating_add(map.region_blocks.saturating_mul(used as u64));
    all.note(format!(
        "blocks {} to {}, {used} regions of {}, {} used; height: logarithm of I/Os",
        map.from,
        end - 1,
        size(map.region_blocks),
        map.occupied
    ));
    let mut table = Table::default().numbers(["from block", "to block", "I/Os", "share"]).word("");
    for region in &map.top {
        table.row(vec![
            cell(region.from.to_string()),
            cell(region.to.to_string()),
            cell(region.ios.to_string()),
            cell(format!("{:.1} %", 100.0 * region.share)),
            cell(bar(region.share, 1.0, 20, style.glyphs)),
        ]);
    }
    all.table(table);
}
