//! Block I/O as the tracer recorded it: of each treatment's trial, and of a system under
//! observation.

mod charts;
mod several_runs;

use assay_chart::{PhaseSpan, ScaleRanges, WIDTH};
use assay_model::TrialRecord;
use assay_traces::block_io::{FILE, IoReport};
use maud::{Markup, html};

use self::charts::{Chart, TitledCharts, charts, common, same_series};
pub(crate) use self::several_runs::io_beside;
use crate::document::html::{self, figure, table};
use crate::document::{DocumentPart, Tone};
use crate::parts::draw::phases;
use crate::parts::io as parts;
use crate::tracers::view::TracerView;
use crate::view::RunView;

pub(super) const VIEW: TracerView = TracerView {
    tab: ("block-io", "I/O"),
    section: ("io", "Block I/O"),
    run: section,
    runs: |views, shown| io_beside(views, &shown.io),
    difference: None,
};

/// Largest number of trials that are drawn.
const MAX_TRIALS: usize = 12;

/// Renders the first counted trial of each treatment that was traced; `None` if no trial was.
fn section(view: &RunView) -> Option<Markup> {
    let mut drawn: Vec<(String, IoChartSource, &IoReport, TitledCharts)> = Vec::new();
    let mut rows = Vec::new();
    for treatment in view.treatments() {
        let report = |r: &TrialRecord| view.traces.get(&FILE, r.number);
        let mut traced = view.counted(treatment).into_iter().filter_map(|r| Some((r, report(r)?)));
        let Some((record, report)) = traced.next() else { continue };
        rows.push((view.label(treatment), record, report));
        if drawn.len() < MAX_TRIALS {
            let subject = IoChartSource::trial("", record);
            let charts = charts(&subject, report);
            drawn.push((view.label(treatment), subject, report, charts));
        }
    }
    if drawn.is_empty() {
        return None;
    }
    same_series(&mut drawn.iter_mut().map(|d| &mut d.3).collect::<Vec<_>>());
    Some(html! {
        p { "What the block layer did while the trial ran, all programs together, on the trial's \
            clock. The four counts say who waits, as far as the kernel knows: none of them means \
            asynchronous." }
        (table(&parts::trials(rows.into_iter())))
        @if drawn.len() > 1 { p.soft { "Charts of a kind have one scale in all treatments." } }
        @for (label, subject, report, charts) in &drawn {
            h3 { (label) }
            (figures(subject, report, charts, |title| common(title, drawn.iter().map(|d| &d.3))))
        }
    })
}

/// The source of a chart's I/Os, and its clock.
struct IoChartSource {
    /// Suffix of the ids of charts.
    id: String,
    /// Name in titles, such as `trial 3`.
    name: String,
    /// Beginning of the captions.
    link: Markup,
    /// Zero of the charts' clock, in nanoseconds.
    start_ns: u64,
    spans: Vec<PhaseSpan>,
}

impl IoChartSource {
    /// Returns the subject of a trial; ids of its charts end with `of` and the trial's number.
    fn trial(of: &str, record: &TrialRecord) -> Self {
        let id = record.number;
        IoChartSource {
            id: format!("{of}{id}"),
            name: format!("trial {id}"),
            link: html! { a href={ "#trial-" (id) } { "Trial " (id) } },
            start_ns: record.start_ns,
            spans: phases(record),
        }
    }
}

/// Renders block I/O of a system under observation as parts of a page, with the same charts as for
/// a trial.
pub fn observed(report: &IoReport) -> Markup {
    let first = report.series.ticks.first().map(|t| t.t_ns);
    let subject = IoChartSource {
        id: "now".into(),
        name: "since the observation began".into(),
        link: html! { "Since the observation began" },
        start_ns: report.origin_ns.or(first).unwrap_or(0),
        spans: Vec::new(),
    };
    let mut all = parts::head(report);
    if report.groups.is_empty() {
        all.say("No I/O so far.");
    }
    all.table(parts::groups(report));
    if let Some(n) = report.completeness.dropped.filter(|n| *n > 0) {
        let lost = format!(
            "{n} I/Os were lost by the tracer: counts are too low, percentiles are lower bounds."
        );
        all.push(DocumentPart::Paragraph(Tone::Warn, lost.into()));
    }
    html! {
        (html::parts(&all))
        (figures(&subject, report, &charts(&subject, report), |_| ScaleRanges::default()))
    }
}

/// Renders every chart of a subject with its caption, on scales that cover the `reach` of its
/// title, and the cost of tracing.
fn figures(
    subject: &IoChartSource,
    report: &IoReport,
    charts: &[(String, Chart)],
    reach: impl Fn(&str) -> ScaleRanges,
) -> Markup {
    html! {
        @for (title, chart) in charts {
            (figure(&chart.draw(reach(title), WIDTH), html! { (subject.link) ": " (title) }))
        }
        @if let Some(cost) = parts::cost(report) {
            p.soft { "Traced by " (cost) ". " @for note in &report.source.notes { (note) " " } }
        }
    }
}
