//! One run of the archive in full: where it stands, its results, findings and trials.

use assay_model::{Kind, Outcome, TrialRecord};

use super::table::{Table, cell};
use super::writer::{Paint, Writer};
use super::{Style, comparison, curves, findings, percentiles, scaling, single, suite};
use crate::alike::{group, trials_text};
use crate::figures::value_text;
use crate::view::{RunView, outcome_word};

/// The run as text.
pub fn run(view: &RunView, style: Style) -> String {
    let s = &view.summary;
    let mut w = Writer::new(style);
    w.heading(&format!("run {}", s.id));
    w.wrapped(0, view.title(), Paint::Plain);
    w.pairs(&[
        ("experiment", format!("{} (workload {})", s.experiment, s.workload)),
        ("host", s.host.clone()),
        (if view.imported().is_some() { "imported" } else { "started" }, s.started_at.clone()),
        ("state", s.state.name().to_owned()),
        ("trials", format!("{} of {} completed, {} failed", s.completed, s.planned, s.failed)),
        ("tags", if s.tags.is_empty() { "none".to_owned() } else { s.tags.join(", ") }),
    ]);
    w.blank();
    w.raw(&results(view, style));
    w.blank();
    w.raw(&told(view, style));
    w.raw(&findings(&view.analysis.findings, style));
    w.blank();
    w.raw(&trials(view, style));
    w.finish()
}

/// What was measured: the comparison or the one treatment, scaling, curves.
pub(super) fn results(view: &RunView, style: Style) -> String {
    let mut w = Writer::new(style);
    w.raw(&if let Some(results) = &view.analysis.suite {
        suite(results, view.analysis.confidence, style)
    } else if view.analysis.comparisons.is_empty() {
        single(view, style)
    } else {
        comparison(&view.analysis, style)
    });
    let told = percentiles(view, style);
    if !told.is_empty() {
        w.blank();
        w.raw(&told);
    }
    if let Some(sc) = &view.analysis.scaling {
        w.blank();
        w.raw(&scaling(sc, style));
    }
    if !view.analysis.curves.is_empty() {
        w.blank();
        w.raw(&curves(&view.analysis, style));
    }
    w.finish()
}

/// The values that an imported file prints of the whole: totals and means.
fn told(view: &RunView, style: Style) -> String {
    let mut w = Writer::new(style);
    // What assay derived stands beside the comparisons already.
    let mut told = view.analysis.run_metrics.iter().filter(|m| m.kind != Kind::Derived).peekable();
    if view.imported().is_some() && told.peek().is_some() {
        for m in told {
            let quoted = if m.kind == Kind::Quoted { ", quoted" } else { "" };
            let value = value_text(m.value, &m.unit);
            w.wrapped(0, &format!("{} of the whole run: {value}{quoted}", m.name), Paint::Plain);
        }
        w.blank();
    }
    w.finish()
}

fn trials(view: &RunView, style: Style) -> String {
    let a = &view.analysis;
    let mut table = Table::default()
        .number("trial")
        .number("block")
        .label("treatment")
        .number(&a.metric)
        .word("outcome");
    let mut w = Writer::new(style);
    for r in &view.records {
        let value = if r.outcome == Outcome::Completed {
            value_text(r.metric(&a.metric), &a.unit)
        } else {
            String::new()
        };
        let paint = if r.outcome == Outcome::Completed { Paint::Plain } else { Paint::Bad };
        table.row(vec![
            cell(r.number.to_string()),
            cell((r.block + 1).to_string()),
            cell(view.label(r.treatment)),
            cell(value),
            (outcome(r), paint),
        ]);
    }
    w.raw(&table.render(style));
    for r in &view.records {
        if !r.error.is_empty() {
            w.wrapped(2, &format!("trial {}: {}", r.number, r.error), Paint::Bad);
        }
    }
    let of_trials = view.findings().into_iter().filter(|(_, trials)| !trials.is_empty());
    for (f, trials) in of_trials {
        let text = format!("{}: {} {}: {}", trials_text(&trials), f.id, f.name, f.message);
        w.wrapped(2, &text, Paint::Warn);
    }
    let notes = view.records.iter().flat_map(|r| r.notes.iter().map(|n| (r.number, n.as_str())));
    for note in group(notes) {
        let text = format!("{}: {}", trials_text(&note.trials), note.text());
        w.wrapped(2, &text, Paint::Soft);
    }
    w.finish()
}

fn outcome(r: &TrialRecord) -> String {
    let word = outcome_word(r.outcome);
    if r.warmup { format!("{word}, warm-up") } else { word.to_owned() }
}
