//! One run of the archive in full: where it stands, its results, findings and trials.

use assay_model::Kind;

use super::writer::Writer;
use super::{Style, curves, single};
use crate::alike::{group, trials_text};
use crate::document::{On, Parts, Tone, terminal};
use crate::gate::Gate;
use crate::parts;
use crate::view::RunView;

/// The run as text.
pub fn run(view: &RunView, style: Style) -> String {
    let s = &view.summary;
    let mut w = Writer::new(style);
    w.heading(&format!("run {}", s.id));
    w.wrapped(0, view.title(), Tone::Plain);
    w.pairs(&[
        ("experiment", format!("{} (workload {})", s.experiment, s.workload)),
        ("host", s.host.clone()),
        (if view.imported().is_some() { "imported" } else { "started" }, s.started_at.clone()),
        ("state", s.state.name().to_owned()),
        ("trials", format!("{} of {} completed, {} failed", s.completed, s.planned, s.failed)),
        ("tags", if s.tags.is_empty() { "none".to_owned() } else { s.tags.join(", ") }),
    ]);
    w.blank();
    w.raw(&results(view, On::Terminal, style));
    w.blank();
    w.raw(&told(view, style));
    terminal::findings(&mut w, &parts::findings::found(view));
    w.blank();
    w.raw(&trials(view, style));
    w.finish()
}

/// What was measured: the suite, the comparison or the one treatment, percentiles, scaling, curves.
pub(super) fn results(view: &RunView, output: On, style: Style) -> String {
    let gate = Gate::open(view);
    let mut all = Parts::default();
    let mut w = Writer::new(style);
    if let Some(results) = &view.analysis.suite {
        all.append(parts::suite::suite(view, results));
    } else if view.analysis.comparisons.is_empty() {
        w.raw(&single(view, style));
    } else {
        all.append(parts::results::comparisons(view, &gate));
    }
    all.append(parts::percentiles::percentiles(view, &gate));
    if let Some(s) = &view.analysis.scaling {
        all.append(parts::scaling::scaling(view, s));
    }
    let more = [terminal::parts_of(&all, output, style), curves(view, style)];
    for text in more.iter().filter(|text| !text.is_empty()) {
        if !w.is_empty() {
            w.blank();
        }
        w.raw(text);
    }
    w.finish()
}

/// The values that an imported file prints of the whole: totals and means.
fn told(view: &RunView, style: Style) -> String {
    let mut w = Writer::new(style);
    // What assay derived stands beside the comparisons already.
    let told = view.analysis.run_metrics.iter().filter(|m| m.kind != Kind::Derived);
    for m in told.filter(|_| view.imported().is_some()) {
        w.wrapped(0, &parts::results::whole_run(m), Tone::Plain);
    }
    if !w.is_empty() {
        w.blank();
    }
    w.finish()
}

fn trials(view: &RunView, style: Style) -> String {
    let mut w = Writer::new(style);
    w.raw(&terminal::parts(&parts::trials::trials(view, &Gate::open(view)), style));
    for r in &view.records {
        if !r.error.is_empty() {
            w.wrapped(2, &format!("trial {}: {}", r.number, r.error), Tone::Bad);
        }
    }
    let notes = view.records.iter().flat_map(|r| r.notes.iter().map(|n| (r.number, n.as_str())));
    for note in group(notes) {
        let text = format!("{}: {}", trials_text(&note.trials), note.text());
        w.wrapped(2, &text, Tone::Soft);
    }
    w.finish()
}
