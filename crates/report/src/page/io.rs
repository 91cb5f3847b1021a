//! Block I/O of the trials, as the tracer saw it: over time, by size, latency and address.

use assay_chart::heat::{self, Heat};
use assay_chart::histogram::{self, Histogram};
use assay_chart::lines::{self, Lines};
use assay_chart::{Head, PhaseSpan, Reach, ScaleKind};
use assay_iotrace::{BLOCK_BYTES, HeatMap, IoReport, Measure, TickRow};
use assay_model::TrialRecord;
use assay_model::units::{format_value_digits, significant};
use maud::{Markup, html};

use super::parts::{figure, table_box};
use super::time::phases;
use crate::view::RunView;

/// Trials that are drawn in all.
const MOST_TRIALS: usize = 12;
/// Series of a histogram that can be told apart.
const MOST_SERIES: usize = 8;

/// A chart before it is drawn.
enum Chart {
    Lines(Lines),
    Histogram(Histogram),
    Heat(Heat),
}

impl Chart {
    fn reach(&self) -> Reach {
        match self {
            Chart::Lines(c) => c.reach(),
            Chart::Histogram(c) => c.reach(),
            Chart::Heat(c) => c.reach(),
        }
    }

    /// The chart on scales that cover `reach` too.
    fn over(&self, reach: Reach) -> Markup {
        match self {
            Chart::Lines(c) => lines::render_over(c, reach),
            Chart::Histogram(c) => histogram::render_over(c, reach),
            Chart::Heat(c) => heat::render_over(c, reach),
        }
    }
}

/// Charts by their titles.
type Titled = Vec<(String, Chart)>;

/// What all charts of a title reach over together.
fn common<'a>(title: &str, all: impl Iterator<Item = &'a Titled>) -> Reach {
    let same = all.flatten().filter(|(t, _)| t == title);
    same.fold(Reach::default(), |reach, (_, chart)| reach.join(chart.reach()))
}

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

/// The charts of the first counted trial of each run (of its first treatment that was traced), those of a
/// kind side by side and on one scale; `None` where fewer than two runs were traced.
pub fn io_beside(views: &[&RunView]) -> Option<Markup> {
    let mut all: Vec<(String, Titled)> = Vec::new();
    for (i, view) in views.iter().enumerate() {
        let mut trials = view.treatments().into_iter().flat_map(|t| view.counted(t));
        let Some((record, report)) = trials.find_map(|r| Some((r, view.io.get(&r.number)?))) else {
            continue;
        };
        let label = format!("#{} trial {}, {}", i + 1, record.number, view.label(record.treatment));
        all.push((label, charts(&Subject::trial(&format!("{}-", i + 1), record), report)));
    }
    if all.len() < 2 {
        return None;
    }
    let mut titles: Vec<&String> = Vec::new();
    for (title, _) in all.iter().flat_map(|(_, charts)| charts) {
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    let of = |title: &String| -> Vec<(&String, Option<Markup>)> {
        let reach = common(title, all.iter().map(|(_, charts)| charts));
        let one =
            |charts: &Titled| charts.iter().find(|(t, _)| t == title).map(|c| c.1.over(reach));
        all.iter().map(|(label, charts)| (label, one(charts))).collect()
    };
    Some(html! {
        h2 { "Block I/O" }
        p class="soft" { "Of the first counted trial of each run; charts of a kind have one scale, and time begins with each trial." }
        @for title in &titles {
            h3 { (title) }
            div class="beside" {
                @for (label, chart) in of(title) {
                    @if let Some(chart) = chart { (figure(&chart, &html! { (label) }, &html! {})) }
                    @else { p class="soft" { (label) ": nothing of it." } }
                }
            }
        }
    })
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
            (figure(&chart.over(reach(title)), &html! { (subject.link) ": " (title) }, &html! {}))
        }
        (cost(report))
    }
}

/// Every chart of a subject under its title.
fn charts(subject: &Subject, report: &IoReport) -> Titled {
    let mut charts = vec![
        ("I/Os a second".to_owned(), over_time(subject, report, Rate::Ios)),
        ("Bytes a second".to_owned(), over_time(subject, report, Rate::Bytes)),
    ];
    for (measure, title) in [
        (Measure::Size, "Size"),
        (Measure::Latency, "Latency, from being taken up to completion"),
        (Measure::Queue, "Time in the queue"),
        (Measure::Device, "Time in the device"),
    ] {
        let chart = distribution(subject, report, measure, title);
        charts.extend(chart.map(|chart| (title.to_owned(), chart)));
    }
    charts.push(("Latency over time".to_owned(), latency_heat(subject, report)));
    let places = report.devices.iter().take(3).enumerate();
    charts.extend(places.filter_map(|(i, d)| {
        let chart = address_heat(subject, &d.device, i, d.heat.as_ref()?);
        Some((format!("where on {} over time", d.device), chart))
    }));
    charts
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

#[derive(Clone, Copy, PartialEq)]
enum Rate {
    Ios,
    Bytes,
}

fn seconds(subject: &Subject, t_ns: u64) -> f64 {
    (t_ns as f64 - subject.start_ns as f64) / 1e9
}

fn over_time(subject: &Subject, report: &IoReport, rate: Rate) -> Chart {
    let tick_s = report.series.tick_ns as f64 / 1e9;
    let points = |of: fn(&TickRow) -> u64| -> Vec<(f64, f64)> {
        report
            .series
            .ticks
            .iter()
            .map(|t| (seconds(subject, t.t_ns) + tick_s / 2.0, of(t) as f64 / tick_s))
            .collect()
    };
    let (name, unit, reads, writes) = match rate {
        Rate::Ios => ("I/Os", "1/s", points(|t| t.reads), points(|t| t.writes)),
        Rate::Bytes => ("bytes", "B/s", points(|t| t.read_bytes), points(|t| t.write_bytes)),
    };
    Chart::Lines(Lines {
        head: Head {
            id: format!("io-{}-{}", if rate == Rate::Ios { "ios" } else { "bytes" }, subject.id),
            title: format!("{name} a second, {}", subject.name),
            desc: format!("{name} read and written in each {tick_s} s."),
        },
        name: name.to_owned(),
        unit: unit.to_owned(),
        series: vec![
            lines::Series { label: "read".into(), points: reads },
            lines::Series { label: "written".into(), points: writes },
        ],
        phases: subject.spans.clone(),
        note: format!("the mean of each {tick_s} s"),
    })
}

fn distribution(
    subject: &Subject,
    report: &IoReport,
    measure: Measure,
    title: &str,
) -> Option<Chart> {
    let of = |g: &assay_iotrace::GroupReport| {
        let h = g.histograms.iter().find(|h| h.measure == measure && !h.rows.is_empty())?;
        // Times come in the unit of the question; the axis gives them their prefix.
        let factor = match h.unit.as_str() {
            "ns" => 1e-9,
            "µs" => 1e-6,
            "ms" => 1e-3,
            _ => 1.0,
        };
        // The row of 0 has no place on an axis of powers of two: it is drawn as the one below 1.
        let rows = h.rows.iter().filter_map(|r| {
            let (from, to) = (r.from? as f64, r.to? as f64);
            let from = if from > 0.0 { from } else { to / 2.0 };
            Some((from * factor, to * factor, r.count))
        });
        Some(histogram::Series { label: g.key.join(" "), rows: rows.collect() })
    };
    let series: Vec<_> = report.groups.iter().filter_map(of).take(MOST_SERIES).collect();
    if series.is_empty() {
        return None;
    }
    Some(Chart::Histogram(Histogram {
        head: Head {
            id: format!("io-{}-{}", measure.name(), subject.id),
            title: format!("{title}, {}", subject.name),
            desc: "How many I/Os in each power of two, by device and direction; the first may hold all that is less."
                .into(),
        },
        name: measure.name().to_owned(),
        unit: if measure == Measure::Size { "B" } else { "s" }.to_owned(),
        what: "I/Os".into(),
        series,
    }))
}

fn columns(subject: &Subject, map: &HeatMap) -> (f64, f64) {
    (seconds(subject, map.start_ns), map.column_ns as f64 / 1e9)
}

fn latency_heat(subject: &Subject, report: &IoReport) -> Chart {
    let map = &report.latency_heat;
    Chart::Heat(Heat {
        head: Head {
            id: format!("io-latency-heat-{}", subject.id),
            title: format!("Latency over time, {}", subject.name),
            desc: "How many I/Os of each latency in each stretch of time.".into(),
        },
        name: "latency".into(),
        unit: "s".into(),
        kind: ScaleKind::Log2,
        what: "I/Os".into(),
        columns_s: columns(subject, map),
        rows: map.rows.iter().map(|ns| (*ns as f64 / 1e9, *ns as f64 * 2.0 / 1e9)).collect(),
        counts: map.counts.clone(),
        phases: subject.spans.clone(),
    })
}

fn address_heat(subject: &Subject, device: &str, at: usize, map: &HeatMap) -> Chart {
    let step = match map.rows.as_slice() {
        [a, b, ..] => b - a,
        _ => 1,
    };
    let bytes = |block: u64| block as f64 * BLOCK_BYTES as f64;
    Chart::Heat(Heat {
        head: Head {
            id: format!("io-address-heat-{at}-{}", subject.id),
            title: format!("Where on {device} over time, {}", subject.name),
            desc: "How many I/Os in each part of the device in each stretch of time.".into(),
        },
        name: format!("place on {device}"),
        unit: "B".into(),
        kind: ScaleKind::Linear,
        what: "I/Os".into(),
        columns_s: columns(subject, map),
        rows: map.rows.iter().map(|b| (bytes(*b), bytes(b + step))).collect(),
        counts: map.counts.clone(),
        phases: subject.spans.clone(),
    })
}
