//! The report on block I/O: totals, groups, histograms, places and losses.

use assay_traces::block_io::{Dimension, GroupReport, HistogramReport, IoReport, Measure};

use super::Style;
use super::io_distribution::distribution;
use super::io_places::{devices, regions};
use crate::document::{DocumentPart, Parts, Tone, terminal, text};
use crate::merged_sentences::distinct;
use crate::parts::io as parts;

/// Formats the whole report except the lines of the ticks, for which see [`super::io_ticks`].
pub fn io(report: &IoReport, style: Style) -> String {
    let mut all = parts::head(report);
    let totals = parts::totals(report);
    if totals.rows.is_empty() {
        all.say("No I/O was selected.");
    } else {
        all.table(totals);
        all.note(parts::classes(report));
    }
    if !report.by.is_empty() {
        let groups = parts::groups(report);
        let shown = groups.render(style);
        all.table(groups);
        paths(report, &shown, &mut all);
    }
    for group in &report.groups {
        for histogram in &group.histograms {
            one_histogram(report, group, histogram, style, &mut all);
        }
    }
    if !report.devices.is_empty() {
        devices(report, &mut all);
    }
    all.titled("Seen and lost");
    let [facts, warnings] = parts::completeness(&report.completeness);
    all.push(DocumentPart::List(Tone::Plain, facts));
    all.push(DocumentPart::List(Tone::Warn, warnings));
    if let Some(cost) = parts::cost(report) {
        all.titled("What it cost");
        all.push(DocumentPart::List(Tone::Plain, vec![cost.into()]));
    }
    terminal::parts(&all, style)
}

/// Adds the full paths of files that the table had to shorten, in the table's order.
fn paths(report: &IoReport, table: &str, all: &mut Parts) {
    let Some(at) = report.by.iter().position(|d| *d == Dimension::File) else { return };
    let paths = report.groups.iter().filter_map(|g| g.key.get(at));
    let shortened = distinct(paths.filter(|path| !table.contains(path.as_str())));
    if !shortened.is_empty() {
        all.note("files in full:");
        all.push(DocumentPart::List(
            Tone::Soft,
            shortened.into_iter().cloned().map(text).collect(),
        ));
    }
}

fn one_histogram(
    report: &IoReport,
    group: &GroupReport,
    histogram: &HistogramReport,
    style: Style,
    all: &mut Parts,
) {
    let of =
        if group.key.is_empty() { "reads and writes".to_owned() } else { group.key.join("  ") };
    all.titled(format!("{of}  {} ({})", histogram.measure.name(), histogram.unit));
    if let Some(map) = &histogram.regions {
        regions(map, style, all);
    } else if histogram.rows.is_empty() {
        all.note(missing(report, histogram));
    } else {
        all.push(DocumentPart::Code("", distribution(&histogram.rows, histogram.steps)));
    }
}

fn missing(report: &IoReport, histogram: &HistogramReport) -> &'static str {
    let recorded = &report.source.recorded;
    match histogram.measure {
        Measure::Queue | Measure::Device if !recorded.queue && recorded.latency => {
            "not recorded apart: the trace has one latency"
        }
        Measure::Latency | Measure::Queue | Measure::Device if !recorded.latency => "not recorded",
        _ => "no I/O of this kind",
    }
}
