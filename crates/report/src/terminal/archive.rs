//! The list of runs.

use assay_model::{RunState, RunSummary};

use super::Style;
use crate::document::{Parts, Table, Tone, cell, terminal};
use crate::figures::value_text;

/// One line a run: id (which begins with its UTC time), experiment, state, completed of planned
/// trials, the baseline's value in the deciding metric; tags and note where somebody added some. One line says so when there is none.
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
    let annotated = runs.iter().any(|r| !r.added_tags.is_empty() || !r.note.is_empty());
    if annotated {
        table = table.label("tags; note");
    }
    for r in runs {
        let paint = match r.state {
            RunState::Completed => Tone::Plain,
            RunState::Started => Tone::Strong,
            RunState::Failed => Tone::Bad,
            RunState::Interrupted => Tone::Warn,
        };
        let value = format!("{} {}", r.metric, value_text(r.value, &r.unit));
        let mut row = vec![
            cell(r.id.to_string()),
            cell(r.experiment.clone()),
            cell(r.state.name()).tone(paint),
            cell(format!("{}/{}", r.completed, r.planned)),
            cell(value),
        ];
        if annotated {
            let note = (!r.note.is_empty()).then(|| r.note.replace('\n', " "));
            let tags = r.all_tags().collect::<Vec<_>>().join(", ");
            let parts = [Some(tags).filter(|t| !t.is_empty()), note];
            row.push(cell(parts.into_iter().flatten().collect::<Vec<_>>().join("; ")));
        }
        table.row(row);
    }
    all.table(table);
    terminal::parts(&all, style)
}
