//! Block I/O of the trials, as the tracer saw it: of each treatment, and of a system that is being
//! watched.

mod beside;
mod charts;

use assay_chart::{PhaseSpan, Reach, WIDTH};
use assay_iotrace::IoReport;
use assay_model::TrialRecord;
use assay_model::units::{format_value_digits, significant};
use maud::{Markup, html};

use self::charts::{Chart, Titled, charts, common, same_series};
use super::time::phases;
use crate::document::html::{figure, table_box};
use crate::view::RunView;

pub use beside::io_beside;

/// Trials that are drawn in all.
const MOST_TRIALS: usize = 12;

/// For each treatment its first counted trial; `None` when no tracer was at work.
pub(super) fn section(view: &RunView) -> Option<Markup> {
    let mut drawn: Vec<(String, Subject, &IoReport, Titled)> = Vec::new();
    let mut rows = Vec::new();
    for treatment in view.treatments() {
        let mut traced =
            view.counted(treatment).into_iter().filter_map(|r| Some((r, view.io.get(&r.number)?)));
        let Some((record, report)) = traced.next() else { continue };
        rows.push(row(&view.label(treatment), record, report));
        if drawn.len() < MOST_TRIALS {
            let subject = Subject::trial("", record);
            let charts = charts(&subject, report);
            drawn.push((view.label(treatment), subject, report, charts));
        }
    }
    if drawn.is_empty() {
        return None;
    }
    same_series(&mut drawn.iter_mut().map(|d| &mut d.3).collect::<Vec<_>>());
    let head = html! {
        th { "treatment" } th { "trial" }
        th class="num" { "reads" } th class="num" { "writes" } th class="num" { "read" } th class="num" { "written" }
        th class="num" { "aio" } th class="num" { "writeback" } th class="num" { "readahead" } th class="num" { "not sync" }
        th class="num" { "read p99" } th class="num" { "write p99" } th class="num" { "lost" }
    };
    let caption = "Block I/O of the measured part of the first counted trial of each treatment";
    Some(html! {
        p { "What the block layer did while the trial ran, all programs together, on the trial's clock. The four counts say who waits, as far as the kernel knows: no one number means asynchronous." }
        (table_box(caption, &head, &html! { @for row in &rows { (row) } }))
        @if drawn.len() > 1 { p class="soft" { "Charts of a kind have one scale in all treatments." } }
        @for (label, subject, report, charts) in &drawn {
            h3 { (label) }
            (figures(subject, report, charts, |title| common(title, drawn.iter().map(|d| &d.3))))
        }
    })
}

fn row(label: &str, record: &TrialRecord, report: &IoReport) -> Markup {
    use assay_iotrace::Op;
    let of = |op: Op| report.ops.iter().find(|o| o.op == op);
    let ios = |op| of(op).map_or(0, |o| o.ios);
    let bytes = |op| format_value_digits(of(op).map_or(0, |o| o.bytes) as f64, "B", 3);
    let p99 = |op| {
        let ns = of(op).and_then(|o| o.latency.p99_ns);
        ns.map_or_else(|| "–".to_owned(), |ns| format_value_digits(ns / 1e9, "s", 3))
    };
    let count = |n: Option<u64>| n.map_or_else(|| "not recorded".to_owned(), |n| n.to_string());
    let lost = report.honesty.dropped.map_or_else(|| "unknown".to_owned(), |n| n.to_string());
    html! {
        tr {
            th scope="row" { (label) }
            td { a href={ "#trial-" (record.number) } { (record.number) } }
            td class="num" { (ios(Op::Read)) } td class="num" { (ios(Op::Write)) }
            td class="num" { (bytes(Op::Read)) } td class="num" { (bytes(Op::Write)) }
            td class="num" { (count(report.classes.aio)) } td class="num" { (count(report.classes.writeback)) }
            td class="num" { (count(report.classes.readahead)) } td class="num" { (count(report.classes.nosync)) }
            td class="num" { (p99(Op::Read)) } td class="num" { (p99(Op::Write)) } td class="num" { (lost) }
        }
    }
}

/// Whose I/Os a chart shows, and on which clock.
struct Subject {
    /// What ids of charts end with.
    id: String,
    /// `trial 3`.
    name: String,
    /// What captions begin with.
    link: Markup,
    /// The zero of its clock.
    start_ns: u64,
    spans: Vec<PhaseSpan>,
}

impl Subject {
    /// A trial; ids of charts end with `of` and its number.
    fn trial(of: &str, record: &TrialRecord) -> Self {
        let id = record.number;
        Subject {
            id: format!("{of}{id}"),
            name: format!("trial {id}"),
            link: html! { a href={ "#trial-" (id) } { "Trial " (id) } },
            start_ns: record.start_ns,
            spans: phases(record),
        }
    }
}

/// Block I/O of a system that is being watched, as parts of a page: the same charts as of a trial.
pub fn observed(report: &IoReport) -> Markup {
    let first = report.series.ticks.first().map(|t| t.t_ns);
    let subject = Subject {
        id: "now".into(),
        name: "since the look began".into(),
        link: html! { "Since the look began" },
        start_ns: report.origin_ns.or(first).unwrap_or(0),
        spans: Vec::new(),
    };
    html! {
        p { (report.source.name) ", " (report.source.format) ". Latency: " (report.source.latency_is) "." }
        @if !report.source.notes.is_empty() { ul class="soft" { @for note in &report.source.notes { li { (note) } } } }
        @if !report.selection.is_empty() { p { "Only " (report.selection.join(", ")) "." } }
        (groups(report))
        (figures(&subject, report, &charts(&subject, report), |_| Reach::default()))
    }
}

fn groups(report: &IoReport) -> Markup {
    let head = html! {
        @for d in &report.by { th scope="col" { (d.name()) } }
        th scope="col" class="num" { "I/Os" } th scope="col" class="num" { "bytes" }
        th scope="col" class="num" { "median" } th scope="col" class="num" { "p99" } th scope="col" class="num" { "longest" }
    };
    let time = |ns: Option<f64>| {
        ns.map_or_else(|| "–".to_owned(), |ns| format_value_digits(ns / 1e9, "s", 3))
    };
    let rows = html! {
        @for g in &report.groups {
            tr {
                @for (i, k) in g.key.iter().enumerate() { @if i == 0 { th scope="row" { (k) } } @else { td { (k) } } }
                td class="num" { (g.ios) } td class="num" { (format_value_digits(g.bytes as f64, "B", 3)) }
                td class="num" { (time(g.latency.p50_ns)) } td class="num" { (time(g.latency.p99_ns)) }
                td class="num" { (time(g.latency.max_ns.map(|ns| ns as f64))) }
            }
        }
    };
    let caption = format!("The busiest {} of {}", report.groups.len(), report.groups_in_all);
    let lost = report.honesty.dropped.filter(|n| *n > 0);
    html! {
        @if report.groups.is_empty() { p { "No I/O so far." } } @else { (table_box(&caption, &head, &rows)) }
        @if let Some(n) = lost { p class="notice" { (n) " I/Os were lost by the tracer: counts are too low, and percentiles are lower bounds." } }
    }
}

/// Every chart of a subject with its caption, on scales that cover what `reach` says of its title, and what
/// the looking cost.
fn figures(
    subject: &Subject,
    report: &IoReport,
    charts: &[(String, Chart)],
    reach: impl Fn(&str) -> Reach,
) -> Markup {
    html! {
        @for (title, chart) in charts {
            (figure(&chart.over(reach(title), WIDTH), &html! { (subject.link) ": " (title) }, &html! {}))
        }
        (cost(report))
    }
}

fn cost(report: &IoReport) -> Markup {
    let Some(cost) = &report.cost else { return html! {} };
    let each = cost.ns_per_io.map_or_else(
        || "not timed".to_owned(),
        |ns| format!("{} for each I/O", format_value_digits(ns / 1e9, "s", 3)),
    );
    let share = cost
        .cpu_share
        .map_or_else(String::new, |s| format!(", {} % of one CPU", significant(100.0 * s, 2)));
    html! {
        p class="soft" {
            "Traced by " (cost.method) ": " (each) (share) " in the kernel. "
            @for note in &report.source.notes { (note) " " }
        }
    }
}
