//! One run of the archive in full: its state, results, findings and trials.

use assay_model::MetricKind;

use super::Style;
use super::curve::curves;
use super::single::single;
use crate::document::{DocumentPart, Parts, Text, Tone, terminal, text};
use crate::gate::Gate;
use crate::merged_sentences::{group, trials_text};
use crate::parts::headline::{headline, needed};
use crate::view::RunView;
use crate::{parts, words};

/// Formats the run as text.
pub fn run(view: &RunView, style: Style) -> String {
    let s = &view.summary;
    let mut all = Parts::default();
    all.titled(format!("run {}", s.id));
    all.say(view.title());
    let tags: Vec<&str> = s.all_tags().collect();
    let facts = [
        ("experiment", format!("{} (workload {})", s.experiment, s.workload)),
        ("host", s.host.clone()),
        (if view.imported().is_some() { "imported" } else { "started" }, s.started_at.clone()),
        ("state", s.state.name().to_owned()),
        ("trials", format!("{} of {} completed, {} failed", s.completed, s.planned, s.failed)),
        ("tags", if tags.is_empty() { "none".to_owned() } else { tags.join(", ") }),
    ];
    let note = Some(("note", s.note.replace('\n', " "))).filter(|_| !s.note.is_empty());
    let facts = facts.into_iter().chain(note);
    all.push(DocumentPart::Pairs(facts.map(|(name, value)| (name.to_owned(), value)).collect()));
    all.append(results(view, style));
    // Metrics that assay derived are already shown with the comparisons.
    let whole = view.analysis.run_metrics.iter().filter(|m| m.kind != MetricKind::Derived);
    for m in whole.filter(|_| view.imported().is_some()) {
        all.say(parts::results::whole_run(m));
    }
    all.push(DocumentPart::Findings(parts::findings::found(view)));
    if let Some(line) = words::profile(&view.analysis) {
        all.say(line);
    }
    trials(view, &mut all);
    terminal::parts(&all, style)
}

/// Returns the measured results: the suite, the comparison or the only treatment, then percentiles,
/// scaling and curves.
pub(super) fn results(view: &RunView, style: Style) -> Parts {
    let gate = Gate::open(view);
    let mut all = Parts::default();
    if let Some(first) = headline(&view.analysis) {
        all.toned(Tone::Strong, first);
        all.notes(needed(view, &view.analysis));
    }
    all.append(match &view.analysis.suite {
        Some(results) => parts::suite::suite(view, results),
        None if view.analysis.comparisons.is_empty() => single(view, style),
        None => parts::results::comparisons(view, &gate),
    });
    all.append(parts::benchmarks::benchmarks(view, &gate.analysis));
    all.append(parts::percentiles::percentiles(view, &gate));
    if let Some(s) = &view.analysis.scaling {
        all.append(parts::scaling::scaling(view, s));
    }
    all.append(curves(view, style));
    all
}

fn trials(view: &RunView, all: &mut Parts) {
    all.append(parts::trials::trials(view, &Gate::open(view)));
    let failed = view.records.iter().filter(|r| !r.error.is_empty());
    let errors: Vec<Text> =
        failed.map(|r| text(format!("trial {}: {}", r.number, r.error))).collect();
    if !errors.is_empty() {
        all.push(DocumentPart::List(Tone::Bad, errors));
    }
    let notes = view.records.iter().flat_map(|r| r.notes.iter().map(|n| (r.number, n.as_str())));
    all.notes(group(notes).iter().map(|n| format!("{}: {}", trials_text(&n.trials), n.text())));
}
