//! The list of runs.

use assay_model::{RunState, RunSummary};

use super::Style;
use crate::document::{Parts, Table, Tone, cell, terminal};
use crate::figures::value_text;

/// One line a run: id (which begins with its UTC time), experiment, state, completed of planned
/// trials, the baseline's value in the deciding metric; tags and note where somebody added some. An
/// empty archive gets one line that states it.
pub fn archive(runs: &[RunSummary], style: Style) -> String {
    let mut all = Parts::default();
    if runs.is_empty() {
        all.say("No runs.");
    }
    let mut table = Table::default()
        .word("run (UTC)")
        .label("experiment")
        .word("state")
        .number("trials")
        .label("baseline");
    for r in runs {
        let paint = match r.state {
            RunState::Completed => Tone::Plain,
            RunState::Started => Tone::Strong,
            RunState::Failed => Tone::Bad,
            RunState::Interrupted => Tone::Warn,
        };
        let value = format!("{} {}", r.metric, value_text(r.value, &r.unit));
        table.row(vec![
            cell(r.id.to_string()),
            cell(r.experiment.clone()),
            cell(r.state.name()).tone(paint),
            cell(format!("{}/{}", r.completed, r.planned)),
            cell(value),
        ]);
    }
    all.table(table);
    for r in runs.iter().filter(|r| !r.added_tags.is_empty() || !r.note.is_empty()) {
        let tags = r.all_tags().collect::<Vec<_>>().join(", ");
        let note = r.note.replace('\n', " ");
        let added = [tags, note].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        all.note(format!("{}: {}", r.id, added.join("; ")));
    }
    terminal::parts(&all, style)
}
