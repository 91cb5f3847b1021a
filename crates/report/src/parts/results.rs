//! The results of a run: every treatment in the deciding metric and in the others.

use assay_model::{Analysis, TreatmentSummary, Verdict};

use super::{benchmarks, curves, percentiles, scaling, significance, suite};
use crate::document::table::ColumnKind;
use crate::document::{
    DocumentPart, Outputs, Parts, Table, TableCell, Text, Tone, TrialLinks, cell, text,
};
use crate::figures::{
    NO_VALUE, percent, ratio_mark, ratio_text, summary_text, summary_texts, value_text,
};
use crate::gate::Gate;
use crate::parts::draw;
use crate::view::{RunView, analysis_label, deciding};
use crate::words;

/// Returns the results for a published output; only a page has charts.
pub(crate) fn section(view: &RunView, gate: &Gate, output: Outputs) -> Parts {
    let a = &gate.analysis;
    let drawn = output == Outputs::Page;
    let mut out = if drawn { significance::sentences(view, gate) } else { Parts::default() };
    if let Some(w) = gate.run() {
        out.push(DocumentPart::Paragraph(Tone::Bad, w.text().into()));
    }
    if let Some(s) = &a.suite {
        out.append(suite::suite(view, s));
    }
    out.append(curves::curves(view, gate, output));
    // The first screen of a page has this chart if nothing is drawn over a size or a factor.
    let here = drawn && !draw::absolutes_first(view, gate);
    if let Some(chart) = here.then(|| draw::absolutes(view, gate)).flatten() {
        out.heading("", format!("{} of each treatment", a.metric));
        out.figure(chart, draw::absolutes_caption(gate));
    }
    out.append(comparisons(view, gate));
    out.append(benchmarks::benchmarks(view, a));
    if let Some(chart) = drawn.then(|| draw::ratios(view, gate)).flatten() {
        let margin = if a.comparisons.iter().any(|c| c.margin.is_some()) {
            " The shaded band is the margin within which differences do not matter."
        } else {
            ""
        };
        out.figure(chart, format!("The line at 1 is the baseline.{margin}"));
    }
    if let Some(s) = &a.scaling {
        out.append(scaling::scaling(view, s));
        if let Some(chart) = drawn.then(|| draw::scaling(view, s)).flatten() {
            out.figure(chart, "Dotted: a speedup equal to the count.");
        }
    }
    if gate.run().is_none() {
        out.append(percentiles::percentiles(view, gate));
        if !drawn {
            out.append(metrics(view, gate));
        }
    }
    out
}

/// Returns every treatment in the deciding metric, compared with the baseline if there is one.
pub(crate) fn comparisons(view: &RunView, gate: &Gate) -> Parts {
    let a = &gate.analysis;
    let all = deciding(a);
    let compared = !a.comparisons.is_empty();
    let merged = all.iter().any(|s| s.percentile.is_some());
    let centre = if merged { "of merged histograms" } else { "geometric mean" };
    let what = match (compared, merged) {
        (true, true) => " and ratio of the trials' own",
        (true, false) => " and ratio",
        _ => "",
    };
    let better = match a.better.words() {
        "" => String::new(),
        words => format!(", {words}"),
    };
    let level = percent(a.confidence);
    let mut table =
        Table::captioned(format!("{} by treatment: {centre}{what} [{level} CI]{better}", a.metric))
            .label("treatment")
            .numbers(["n", &a.metric]);
    if compared {
        table = table.number("ratio").word("verdict").column(
            Outputs::Published,
            ColumnKind::Number,
            "detectable",
        );
    }
    table = table.trials();
    for (s, value) in all.iter().zip(summary_texts(&all)) {
        table.row(row(view, gate, s, value));
    }
    let mut out = Parts::default();
    out.heading("comparisons", if compared { "Comparisons" } else { "Summary" });
    if table.rows.is_empty() {
        return Parts::default();
    }
    out.table(table);
    out.notes(words::guest(a.guest));
    out.notes(super::system::unlike_hosts(view));
    for s in all {
        for why in &s.doubts {
            out.note(format!("{}: doubtful: {why}", view.label(s.treatment)));
        }
    }
    for c in &a.comparisons {
        let soft = |words: String| DocumentPart::Paragraph(Tone::Soft, words.into());
        let label = analysis_label(a, c.treatment);
        // The verdict is printed if the first sentence has no ranking. With several comparisons the
        // table has the verdicts, and only the reason for a missing number is printed.
        if a.comparisons.len() == 1 && a.ranking.is_empty() {
            out.on(
                Outputs::Brief,
                DocumentPart::Paragraph(Tone::Plain, words::verdict(a, c).into()),
            );
        } else if c.interval.is_none() {
            out.on(Outputs::Brief, soft(format!("{label}: {}", c.reason)));
        }
        out.on(Outputs::Terminal, soft(format!("{label}: {}", c.reason)));
        if let Some(d) = c.detectable {
            let least = percent(d - 1.0);
            let found = format!("detectable with 80 % power: a difference of {least}");
            out.on(Outputs::Terminal, soft(found));
        }
    }
    if compared {
        out.on(
            Outputs::Published,
            DocumentPart::Paragraph(
                Tone::Soft,
                "Detectable: the smallest \
            difference that a run of this size and noise finds in 80 of 100 repeats."
                    .into(),
            ),
        );
        if let Some(known) = &a.floor {
            let floor = format!("{}.", words::floor(known));
            out.on(Outputs::Full, DocumentPart::Paragraph(Tone::Soft, floor.into()));
        }
    }
    out
}

fn row(view: &RunView, gate: &Gate, s: &TreatmentSummary, value: String) -> Vec<TableCell> {
    let a = &gate.analysis;
    let compared = !a.comparisons.is_empty();
    let behind = TrialLinks::metric(view, &[s.treatment], &s.metric);
    let mut out = vec![cell(view.label(s.treatment)), cell(s.summary.n.to_string())];
    if let Some(w) = gate.treatment(s.treatment) {
        out.extend(TableCell::withheld(if compared { 4 } else { 1 }, w.text()));
    } else {
        out.push(TableCell::from(&behind, value));
        match a.comparisons.iter().find(|c| c.treatment == s.treatment) {
            Some(c) if c.verdict == Verdict::Invalid && c.ratio.is_none() => {
                out.extend(TableCell::withheld(3, c.reason.clone()));
            }
            Some(c) => {
                let both = TrialLinks::metric(view, &[c.baseline, c.treatment], &c.metric);
                let ratio = ratio_text(c) + ratio_mark(a, c);
                let detectable = c.detectable.map(|d| percent(d - 1.0));
                out.push(TableCell::from(&both, ratio));
                out.push(TableCell::verdict(c.verdict));
                out.push(cell(detectable.unwrap_or_else(|| NO_VALUE.to_owned())));
            }
            None if compared => {
                out.extend([cell("1"), cell("baseline").tone(Tone::Soft), cell("")]);
            }
            None => {}
        }
    }
    out.push(TableCell::trials(&behind));
    out
}

/// Returns true if a summary is of another metric than the deciding one. Percentiles have a table
/// of their own, except those of trials without histograms.
pub(crate) fn other(a: &Analysis, s: &TreatmentSummary) -> bool {
    s.metric != a.metric && s.percentile.as_ref().is_none_or(|p| p.trials == 0)
}

/// Returns every treatment in every other metric, and the metrics of the run as a whole.
fn metrics(view: &RunView, gate: &Gate) -> Parts {
    let a = &gate.analysis;
    let mut table = Table::captioned("Every treatment in every other metric")
        .label("metric")
        .word("treatment")
        .numbers(["n", "geometric mean [95 % CI]", "min", "max"])
        .word("better");
    for s in a.summaries.iter().filter(|s| other(a, s)) {
        let behind = TrialLinks::metric(view, &[s.treatment], &s.metric);
        let mut row = vec![
            cell(s.metric.clone()),
            cell(view.label(s.treatment)),
            cell(s.summary.n.to_string()),
        ];
        match gate.treatment(s.treatment) {
            Some(w) => row.extend(TableCell::withheld(3, w.text())),
            None => row.extend(
                [
                    summary_text(s),
                    value_text(s.summary.min, &s.unit),
                    value_text(s.summary.max, &s.unit),
                ]
                .map(|words| TableCell::from(&behind, words)),
            ),
        }
        row.push(cell(s.better.words().split(' ').next().unwrap_or("")));
        table.row(row);
    }
    let mut out = Parts::default();
    if !table.rows.is_empty() {
        out.heading("", "Other metrics");
    }
    out.table(table);
    whole_runs(a, &mut out);
    out
}

/// Adds the metrics of the run as a whole, if it has any.
pub(super) fn whole_runs(a: &Analysis, out: &mut Parts) {
    let whole: Vec<Text> = a.run_metrics.iter().map(|m| text(whole_run(m))).collect();
    if !whole.is_empty() {
        out.push(DocumentPart::List(Tone::Plain, whole));
    }
}

/// Formats a metric of the run as a whole.
pub(crate) fn whole_run(m: &assay_model::MetricValue) -> String {
    let quoted = if m.kind == assay_model::MetricKind::Quoted { ", quoted" } else { "" };
    format!("{} of the whole run: {}{quoted}", m.name, value_text(m.value, &m.unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::terminal::Style;

    fn outputs(view: &RunView) -> [String; 3] {
        let style = Style { width: 200, ..Style::default() };
        [
            crate::terminal::run(view, style),
            crate::formats::markdown::write(view),
            crate::page::render(view),
        ]
    }

    /// Returns true if an output contains the words, possibly escaped for Markdown.
    fn has(output: &str, words: &str) -> bool {
        output.contains(words) || output.contains(&crate::document::markdown::line(words))
    }

    #[test]
    fn a_ratio_with_a_doubtful_side_is_marked_in_every_output() {
        let mut view = fixtures::commands();
        let ratio = ratio_text(&view.analysis.comparisons[0]);
        let first = &mut view.analysis.summaries[0];
        assert_eq!(first.treatment, view.analysis.comparisons[0].baseline);
        first.doubts = vec!["assay was stopped".to_owned()];
        for text in outputs(&view) {
            assert!(has(&text, &format!("{ratio} (doubtful)")), "{text}");
            assert!(text.contains("assay was stopped"), "{text}");
        }
    }

    #[test]
    fn the_best_says_in_every_output_that_another_point_is_higher() {
        let mut view = fixtures::block_size();
        for c in &mut view.analysis.curves {
            let highest = c.points.iter().map(|p| p.value).fold(0.0, f64::max);
            let other = c.points.iter().find(|p| p.value < highest).cloned();
            c.best = other;
        }
        for c in view.analysis.curves.iter().filter(|c| curves::chosen(c)) {
            let of: Vec<_> = view.analysis.curves.iter().filter(|o| o.name == c.name).collect();
            let scale = crate::figures::curves_scale(&of);
            let best = crate::figures::point_text(c, c.best.as_ref().unwrap(), scale);
            let expected = format!("{best}, {}", c.judged);
            for text in outputs(&view) {
                assert!(has(&text, &expected), "{expected}");
            }
        }
    }
}
