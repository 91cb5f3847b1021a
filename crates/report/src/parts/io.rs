//! Block I/O as tables and sentences: the busiest groups of a report, a trial of each treatment,
//! and the cost of tracing.

use assay_model::TrialRecord;
use assay_model::units::{format_value_digits, significant};
use assay_traces::block_io::{Completeness, IoReport, Op, OpTotal};

use crate::document::{DocumentPart, Parts, Table, TableCell, Text, Tone, cell, text};

/// Formats a value; a missing one is a dash.
pub(crate) fn optional<T>(value: Option<T>, write: impl Fn(T) -> String) -> TableCell {
    cell(value.map_or_else(|| "-".to_owned(), write))
}

/// Formats nanoseconds with three digits and a prefix.
pub(crate) fn time(ns: f64) -> String {
    format_value_digits(ns / 1e9, "s", 3)
}

/// Formats bytes with three digits and a prefix.
pub(crate) fn bytes(n: u64) -> String {
    format_value_digits(n as f64, "B", 3)
}

fn recorded(n: Option<u64>) -> String {
    n.map_or_else(|| "not recorded".to_owned(), |n| n.to_string())
}

/// Returns the title, marked with `>=` if its column has only lower bounds.
fn bounded(title: &str, report: &IoReport) -> String {
    if report.completeness.lost() { format!("{title}>=") } else { title.to_owned() }
}

/// Returns the source of a trace, its time span, its selection and its definition of latency.
pub(crate) fn head(report: &IoReport) -> Parts {
    let mut out = Parts::default();
    let source = &report.source;
    let files = if source.files > 1 { format!(", {} files", source.files) } else { String::new() };
    let name = format!("{}: {}{files}", source.name, source.format);
    out.push(DocumentPart::Paragraph(Tone::Strong, name.into()));
    let span = report.span_ns.map(|ns| time(ns as f64));
    match (&report.started_at, span) {
        (Some(at), Some(span)) => out.say(format!("From {at}, {span}")),
        (None, Some(span)) => out.say(format!("{span} of a clock without a date")),
        (_, None) => {}
    }
    if !report.selection.is_empty() {
        out.say(format!("Only {}", report.selection.join(", ")));
    }
    out.note(format!("Latency: {}", source.latency_is));
    out.notes(source.notes.iter().cloned());
    out
}

/// Returns counts of the events and I/Os that were seen, matched and lost: facts first, then
/// warnings.
pub(crate) fn completeness(h: &Completeness) -> [Vec<Text>; 2] {
    let share = |n: u64| format!("{:.1} %", 100.0 * n as f64 / h.ios.max(1) as f64);
    let seen = if h.from_events {
        format!(
            "{} events; {} I/Os, of which {} ({}) matched, {} of them ({}) ambiguous, and {} in \
            flight at the end",
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
    let selected =
        if h.selected == h.ios { String::new() } else { format!("; {} selected", h.selected) };
    let dropped = h.dropped.map_or_else(|| "not in this format".to_owned(), |n| n.to_string());
    let mut facts = vec![
        seen + &selected,
        format!(
            "dropped by the tracer: {dropped}; ends without a start: {}; given up: {}; clock \
            backwards: {}",
            h.unmatched_ends, h.given_up, h.clock_backwards
        ),
    ];
    let counts = [
        (h.flush_ends, "ends of flushes that the kernel reports without a start"),
        (
            h.missed_completions,
            "I/Os whose completion the kernel did not report: counted, without latencies",
        ),
        (h.requeued, "returned by the driver and issued again"),
        (h.queue_unknown, "I/Os whose queueing was not seen"),
        (h.unreadable, "lines that could not be read"),
        (h.skipped_bytes, "bytes that belong to no record"),
        (h.pooled, "I/Os of groups beyond the limit, under (others)"),
    ];
    facts.extend(counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")));
    let warnings = [
        (h.truncated, "the trace ends in the middle of a record"),
        (h.lost(), "Something was lost, so percentiles and maxima are lower bounds."),
    ];
    let warnings = warnings.iter().filter(|(is, _)| *is).map(|(_, words)| (*words).into());
    [facts.into_iter().map(text).collect(), warnings.collect()]
}

/// Returns the totals of each operation; empty if no I/O was selected.
pub(crate) fn totals(report: &IoReport) -> Table {
    let mut table = Table::default().word("operation").numbers(["I/Os", "1/s", "B/s", "mean size"]);
    for title in ["p50", "p99", "max"] {
        table = table.number(&bounded(title, report));
    }
    let seconds = report.span_ns.map_or(0.0, |ns| ns as f64 / 1e9);
    for op in &report.ops {
        let rate = |n: u64| (seconds > 0.0).then(|| n as f64 / seconds);
        let mean = op.bytes as f64 / op.ios.max(1) as f64;
        table.row(vec![
            cell(op.op.name()),
            cell(op.ios.to_string()),
            optional(rate(op.ios), |r| significant(r, 3)),
            optional(rate(op.bytes), |r| format_value_digits(r, "B/s", 3)),
            cell(format_value_digits(mean, "B", 3)),
            optional(op.latency.p50_ns, time),
            optional(op.latency.p99_ns, time),
            optional(op.latency.max_ns, |ns| time(ns as f64)),
        ]);
    }
    table
}

/// Returns the four counts that show who waits, as far as the kernel knows.
pub(crate) fn classes(report: &IoReport) -> String {
    let c = &report.classes;
    let [aio, writeback, readahead, nosync] =
        [c.aio, c.writeback, c.readahead, c.nosync].map(recorded);
    format!("aio: {aio}; writeback: {writeback}; readahead: {readahead}; nosync: {nosync}")
}

/// Returns the busiest groups with their time in the queue and in the device, or with their latency
/// if the trace has no queue times.
pub(crate) fn groups(report: &IoReport) -> Table {
    let caption = format!("The busiest {} of {}", report.groups.len(), report.groups_in_all);
    let queue = report.source.recorded.queue;
    let times = if queue { ["queue p99", "device p99"] } else { ["p50", "p99"] };
    let mut table = Table::captioned(caption)
        .labels(report.by.iter().map(|dimension| dimension.name()))
        .numbers(["I/Os", "share", "bytes"]);
    for title in times.into_iter().chain(["max"]) {
        table = table.number(&bounded(title, report));
    }
    let all: u64 = report.ops.iter().map(|o| o.ios).sum();
    for group in &report.groups {
        let mut row: Vec<TableCell> = group.key.iter().map(|word| cell(word.as_str())).collect();
        row.push(cell(group.ios.to_string()));
        row.push(cell(format!("{:.1} %", 100.0 * group.ios as f64 / all.max(1) as f64)));
        row.push(cell(bytes(group.bytes)));
        let shown = if queue {
            [group.queue.p99_ns, group.device.p99_ns]
        } else {
            [group.latency.p50_ns, group.latency.p99_ns]
        };
        row.extend(shown.map(|ns| optional(ns, time)));
        row.push(optional(group.latency.max_ns, |ns| time(ns as f64)));
        table.row(row);
    }
    table
}

/// Returns the block I/O in the measured part of the first counted trial of each treatment.
pub(crate) fn trials<'a>(
    all: impl Iterator<Item = (String, &'a TrialRecord, &'a IoReport)>,
) -> Table {
    let mut table = Table::captioned(
        "Block I/O of the measured part of the first counted trial of each treatment",
    )
    .label("treatment")
    .word("trial")
    .numbers(["reads", "writes", "read", "written"])
    .numbers(["aio", "writeback", "readahead", "nosync"])
    .numbers(["read p99", "write p99", "lost"]);
    for (label, record, report) in all {
        let of = |op: Op| report.ops.iter().find(|o| o.op == op);
        let ops = [of(Op::Read), of(Op::Write)];
        let both = |write: fn(Option<&OpTotal>) -> TableCell| ops.map(write);
        let c = &report.classes;
        let n = record.number.to_string();
        let mut row = vec![cell(label), cell(Text::default().link(format!("#trial-{n}"), n))];
        row.extend(both(|o| cell(o.map_or(0, |o| o.ios).to_string())));
        row.extend(both(|o| cell(bytes(o.map_or(0, |o| o.bytes)))));
        row.extend([c.aio, c.writeback, c.readahead, c.nosync].map(|n| cell(recorded(n))));
        row.extend(both(|o| o.map_or_else(|| cell("-"), |o| optional(o.latency.p99_ns, time))));
        let lost = report.completeness.dropped;
        row.push(cell(lost.map_or_else(|| "unknown".to_owned(), |n| n.to_string())));
        table.row(row);
    }
    table
}

/// Returns the cost of tracing as a sentence without its full stop; `None` for a recorded trace.
pub(crate) fn cost(report: &IoReport) -> Option<String> {
    let cost = report.cost.as_ref()?;
    let percent = |share: f64| format!("{} %", significant(100.0 * share, 2));
    let kernel = match (cost.ns_per_io, cost.cpu_share) {
        (Some(ns), Some(share)) => format!(
            "{} in the kernel for each I/O (timed in samples), {} of one CPU",
            time(ns),
            percent(share)
        ),
        _ => "in the kernel: not timed".to_owned(),
    };
    let assay = cost
        .reader_share
        .map_or_else(String::new, |share| format!("; assay itself {} of one CPU", percent(share)));
    Some(format!("{}: {kernel}{assay}", cost.method))
}
