//! I/Os tick by tick, as the lines of DTrace's `tick-1s`.

use assay_model::units::format_value_digits;
use assay_traces::block_io::{IoReport, TickRow};

use super::Style;
use crate::document::{DocumentPart, Parts, Table, TableCell, Tone, cell, terminal};
use crate::parts::io::{optional, time};

const DAY_NS: i128 = 86_400_000_000_000;

/// Returns the header of the lines that are shown while ticks happen.
pub fn io_tick_header() -> String {
    format!(
        "{:<10}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>9}{:>9}{:>6}\n",
        "UTC", "reads", "writes", "aio", "wback", "rahead", "nosync", "read/s", "write/s", "depth"
    )
}

/// Formats one tick as a line under [`io_tick_header`]; `None` is a tick without I/O. `ends_at_ns`
/// counts from 1970.
pub fn io_tick_line(ends_at_ns: u64, tick_ns: u64, tick: Option<&TickRow>) -> String {
    let [reads, writes, aio, writeback, readahead, nosync] = tick
        .map_or([Some(0); 6], counts)
        .map(|n| n.map_or_else(|| "-".to_owned(), |n| n.to_string()));
    let rate = |n: u64| {
        let per_second = n as f64 * 1e9 / tick_ns.max(1) as f64;
        format_value_digits(per_second, "B", 3).replace(' ', "")
    };
    let depth = tick.and_then(|t| t.depth).map_or_else(|| "-".to_owned(), |d| format!("{d:.1}"));
    format!(
        "{:<10}{reads:>8}{writes:>8}{aio:>8}{writeback:>8}{readahead:>8}{nosync:>8}\
        {:>9}{:>9}{depth:>6}\n",
        time_of_day(ends_at_ns.into(), 1_000_000_000),
        rate(tick.map_or(0, |t| t.read_bytes)),
        rate(tick.map_or(0, |t| t.write_bytes)),
    )
}

/// Formats a line for every tick: its start, reads, writes, the four counts that show who waits (a
/// dash if the trace does not record them), bytes and mean depth.
pub fn io_ticks(report: &IoReport, style: Style) -> String {
    let series = &report.series;
    let wall = report.started_at.is_some();
    let mut table = Table::default()
        .word(if wall { "UTC" } else { "after" })
        .numbers(["reads", "writes", "aio", "wback", "rahead", "nosync"])
        .numbers(["read B", "write B", "depth"]);
    let origin = report.origin_ns.unwrap_or(0);
    let zero = report.wall_start_ns.zip(report.origin_ns);
    let zero = zero.map(|(wall, origin)| i128::from(wall) - i128::from(origin));
    for tick in &series.ticks {
        let when = match zero {
            Some(zero) => time_of_day(i128::from(tick.t_ns) + zero, series.tick_ns),
            None if tick.t_ns < origin => "0 s".to_owned(),
            None => time((tick.t_ns - origin) as f64),
        };
        table.row(row(when, tick));
    }
    let mut all = Parts::default();
    let length = time(series.tick_ns as f64);
    all.titled(format!("Every {length}"));
    if series.tick_ns != series.asked_ns {
        let asked = time(series.asked_ns as f64);
        let words = format!("Ticks of {asked} would be too many; these are of {length}.");
        all.push(DocumentPart::Paragraph(Tone::Warn, words.into()));
    }
    all.table(table);
    terminal::parts(&all, style)
}

/// Formats the time of day in UTC of a moment, in nanoseconds since 1970, with as many decimals as
/// ticks of this length need.
pub fn time_of_day(at_ns: i128, tick_ns: u64) -> String {
    let at = jiff::Timestamp::from_nanosecond(at_ns.rem_euclid(DAY_NS)).unwrap_or_default();
    let whole = tick_ns.is_multiple_of(1_000_000_000);
    at.strftime(if whole { "%H:%M:%S" } else { "%H:%M:%S%.3f" }).to_string()
}

/// Returns the counts of a tick in the order of the columns.
fn counts(t: &TickRow) -> [Option<u64>; 6] {
    [Some(t.reads), Some(t.writes), t.aio, t.writeback, t.readahead, t.nosync]
}

fn row(when: String, t: &TickRow) -> Vec<TableCell> {
    let bytes = |n: u64| cell(format_value_digits(n as f64, "B", 3));
    let mut row = vec![cell(when)];
    row.extend(counts(t).map(|n| optional(n, |n| n.to_string())));
    row.extend([bytes(t.read_bytes), bytes(t.write_bytes)]);
    row.push(optional(t.depth, |d| format!("{d:.1}")));
    row
}
