//! What was asked of block I/O: totals, groups, histograms, places, and what was lost.

use std::fmt::Write;

use assay_iotrace::{
    Classes, Cost, Dimension, GroupReport, HistogramReport, Honesty, IoReport, OpTotal,
};
use assay_model::units::{format_value_digits, significant};

use super::Style;
use super::io_distribution::distribution;
use super::io_places::{devices, regions};
use super::writer::Writer;
use crate::document::{Cell, Table, Tone, cell};

/// The whole answer but the lines of the ticks, for which see [`super::io_ticks`].
pub fn io(report: &IoReport, style: Style) -> String {
    let mut out = head(report, style);
    out.push_str(&totals(report, style));
    if !report.by.is_empty() {
        out.push('\n');
        out.push_str(&groups(report, style));
    }
    let wants_histograms = report.groups.iter().any(|g| !g.histograms.is_empty());
    if wants_histograms {
        for group in &report.groups {
            for histogram in &group.histograms {
                out.push('\n');
                out.push_str(&one_histogram(report, group, histogram, style));
            }
        }
    }
    if !report.devices.is_empty() {
        out.push('\n');
        out.push_str(&devices(report, style));
    }
    out.push('\n');
    out.push_str(&honesty(&report.honesty, style));
    if let Some(cost) = &report.cost {
        out.push_str(&cost_line(cost, style));
    }
    out
}

/// What tracing cost.
fn cost_line(cost: &Cost, style: Style) -> String {
    let mut w = Writer::new(style);
    let percent = |share: f64| format!("{} %", significant(100.0 * share, 2));
    let mut text = match (cost.ns_per_io, cost.cpu_share) {
        (Some(ns), Some(share)) => format!(
            "{} in the kernel for each I/O (timed in samples), {} of one CPU",
            time(ns),
            percent(share)
        ),
        _ => "in the kernel: not timed".to_owned(),
    };
    if let Some(share) = cost.reader_share {
        let _ = write!(text, "; assay itself {} of one CPU", percent(share));
    }
    w.heading("What it cost");
    w.wrapped(2, &format!("{}: {text}", cost.method), Tone::Plain);
    w.finish()
}

fn head(report: &IoReport, style: Style) -> String {
    let mut w = Writer::new(style);
    let source = &report.source;
    let files = if source.files > 1 { format!(", {} files", source.files) } else { String::new() };
    w.heading(&format!("{}: {}{files}", source.name, source.format));
    let span = report.span_ns.map(|ns| time(ns as f64));
    match (&report.started_at, span) {
        (Some(at), Some(span)) => w.wrapped(0, &format!("From {at}, {span}"), Tone::Plain),
        (None, Some(span)) => {
            w.wrapped(0, &format!("{span} of a clock without a date"), Tone::Plain);
        }
        (_, None) => {}
    }
    w.wrapped(0, &format!("Latency: {}", source.latency_is), Tone::Soft);
    if !report.selection.is_empty() {
        w.wrapped(0, &format!("Only {}", report.selection.join(", ")), Tone::Plain);
    }
    for note in &source.notes {
        w.wrapped(0, note, Tone::Plain);
    }
    w.finish() + "\n"
}

/// A title that says when its column holds lower bounds only.
fn bounded(title: &str, lost: bool) -> String {
    if lost { format!("{title}>=") } else { title.to_owned() }
}

fn totals(report: &IoReport, style: Style) -> String {
    let mut w = Writer::new(style);
    if report.ops.is_empty() {
        w.wrapped(0, "No I/O was selected.", Tone::Plain);
        return w.finish();
    }
    let lost = report.honesty.lost();
    let mut table = Table::default().word("").number("I/Os").number("1/s").number("B/s");
    table = table.number("mean size");
    for title in ["p50", "p99", "max"] {
        table = table.number(&bounded(title, lost));
    }
    let seconds = report.span_ns.map_or(0.0, |ns| ns as f64 / 1e9);
    for op in &report.ops {
        table.row(total_row(op, seconds));
    }
    w.wrapped(0, &classes(&report.classes), Tone::Plain);
    table.render(style) + &w.finish()
}

fn total_row(op: &OpTotal, seconds: f64) -> Vec<Cell> {
    let l = &op.latency;
    let rate = |n: u64| (seconds > 0.0).then(|| n as f64 / seconds);
    vec![
        cell(op.op.name()),
        cell(op.ios.to_string()),
        optional(rate(op.ios), |r| significant(r, 3)),
        optional(rate(op.bytes), |r| format_value_digits(r, "B/s", 3)),
        cell(format_value_digits(op.bytes as f64 / op.ios.max(1) as f64, "B", 3)),
        optional(l.p50_ns, time),
        optional(l.p99_ns, time),
        optional(l.max_ns, |ns| time(ns as f64)),
    ]
}

/// A value, or a dash where there is none.
pub(super) fn optional<T>(value: Option<T>, write: impl Fn(T) -> String) -> Cell {
    cell(value.map_or_else(|| "-".to_owned(), write))
}

/// Nanoseconds for a person.
pub(super) fn time(ns: f64) -> String {
    format_value_digits(ns / 1e9, "s", 3)
}

fn classes(c: &Classes) -> String {
    let count = |n: Option<u64>| n.map_or_else(|| "not recorded".to_owned(), |n| n.to_string());
    format!(
        "aio: {}; writeback: {}; readahead: {}; nosync: {}",
        count(c.aio),
        count(c.writeback),
        count(c.readahead),
        count(c.nosync)
    )
}

fn groups(report: &IoReport, style: Style) -> String {
    let lost = report.honesty.lost();
    let mut table = Table::default();
    for dimension in &report.by {
        table = table.label(dimension.name());
    }
    table = table.number("I/Os").number("share").number("bytes");
    let queue = report.source.recorded.queue;
    if queue {
        table = table.number(&bounded("queue p99", lost)).number(&bounded("device p99", lost));
    } else {
        table = table.number(&bounded("p50", lost)).number(&bounded("p99", lost));
    }
    table = table.number(&bounded("max", lost));
    let all: u64 = report.ops.iter().map(|o| o.ios).sum();
    for group in &report.groups {
        let mut row: Vec<Cell> = group.key.iter().map(|word| cell(word.as_str())).collect();
        row.push(cell(group.ios.to_string()));
        row.push(cell(format!("{:.1} %", 100.0 * group.ios as f64 / all.max(1) as f64)));
        row.push(cell(format_value_digits(group.bytes as f64, "B", 3)));
        let shown: [Option<f64>; 2] = if queue {
            [group.queue.p99_ns, group.device.p99_ns]
        } else {
            [group.latency.p50_ns, group.latency.p99_ns]
        };
        row.extend(shown.map(|ns| optional(ns, time)));
        row.push(optional(group.latency.max_ns, |ns| time(ns as f64)));
        table.row(row);
    }
    let mut w = Writer::new(style);
    let more = report.groups_in_all - report.groups.len();
    if more > 0 {
        w.line(&format!("and {more} more, less busy"), Tone::Soft);
    }
    let table = table.render(style);
    paths(report, &table, &mut w);
    table + &w.finish()
}

/// Files whose paths the table had to shorten, whole and in its order.
fn paths(report: &IoReport, table: &str, w: &mut Writer) {
    let Some(at) = report.by.iter().position(|d| *d == Dimension::File) else { return };
    let mut told: Vec<&str> = Vec::new();
    for path in report.groups.iter().filter_map(|g| g.key.get(at)) {
        if !table.contains(path.as_str()) && !told.contains(&path.as_str()) {
            if told.is_empty() {
                w.line("files in full:", Tone::Soft);
            }
            w.wrapped(2, path, Tone::Plain);
            told.push(path);
        }
    }
}

fn one_histogram(
    report: &IoReport,
    group: &GroupReport,
    histogram: &HistogramReport,
    style: Style,
) -> String {
    let mut w = Writer::new(style);
    let what = format!("{} ({})", histogram.measure.name(), histogram.unit);
    let of =
        if group.key.is_empty() { "reads and writes".to_owned() } else { group.key.join("  ") };
    w.heading(&format!("  {of}  {what}"));
    if let Some(map) = &histogram.regions {
        return w.finish() + &regions(map, style);
    }
    if histogram.rows.is_empty() {
        w.wrapped(2, missing(report, histogram), Tone::Soft);
        return w.finish();
    }
    w.finish() + &distribution(&histogram.rows, histogram.steps)
}

fn missing(report: &IoReport, histogram: &HistogramReport) -> &'static str {
    use assay_iotrace::Measure;
    let recorded = &report.source.recorded;
    match histogram.measure {
        Measure::Queue | Measure::Device if !recorded.queue && recorded.latency => {
            "not recorded apart: the trace has one latency"
        }
        Measure::Latency | Measure::Queue | Measure::Device if !recorded.latency => "not recorded",
        _ => "no I/O of this kind",
    }
}

/// What was seen, what fitted together, and what was lost.
fn honesty(h: &Honesty, style: Style) -> String {
    let mut w = Writer::new(style);
    let share = |n: u64| format!("{:.1} %", 100.0 * n as f64 / h.ios.max(1) as f64);
    let mut seen = if h.from_events {
        format!(
            "{} events; {} I/Os, of which {} ({}) matched, {} of them ({}) ambiguous, and {} in flight at the end",
            h.events,
            h.ios,
            h.matched,
            share(h.matched),
            h.ambiguous,
            share(h.ambiguous),
            h.in_flight
        )
    } else {
        format!("{} rows, each a whole I/O", h.events)
    };
    if h.selected != h.ios {
        let _ = write!(seen, "; {} selected", h.selected);
    }
    let dropped = match h.dropped {
        Some(n) => n.to_string(),
        None => "the format does not tell".to_owned(),
    };
    w.heading("Seen and lost");
    w.wrapped(2, &seen, Tone::Plain);
    w.wrapped(
        2,
        &format!(
            "dropped by the tracer: {dropped}; ends without a start: {}; given up: {}; clock backwards: {}",
            h.unmatched_ends, h.given_up, h.clock_backwards
        ),
        Tone::Plain,
    );
    for (n, what) in [
        (h.flush_ends, "ends of flushes that the kernel tells of without a start"),
        (
            h.untold_ends,
            "I/Os ended without the kernel telling the probes: counted, without latencies",
        ),
        (h.requeued, "given back by the driver and issued again"),
        (h.queue_unknown, "I/Os whose queueing was not seen"),
        (h.unreadable, "lines that could not be read"),
        (h.skipped_bytes, "bytes that belong to no record"),
        (h.pooled, "I/Os of groups beyond those kept apart, under (others)"),
    ] {
        if n > 0 {
            w.wrapped(2, &format!("{n} {what}"), Tone::Plain);
        }
    }
    if h.truncated {
        w.wrapped(2, "the trace ends in the middle of a record", Tone::Warn);
    }
    if h.lost() {
        let text = "Something was lost, so percentiles and maxima are lower bounds.";
        w.wrapped(2, text, Tone::Warn);
    }
    w.finish()
}
