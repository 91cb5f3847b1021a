//! The list of runs.

use assay_model::{RunState, RunSummary};

use super::Style;
use super::table::{Table, cell};
use super::writer::{Paint, Writer};
use crate::figures::value_text;

/// One line a run: id (which begins with its UTC time), experiment, state, completed of planned
/// trials, the baseline's value in the deciding metric. One line says so when there is none.
pub fn archive(runs: &[RunSummary], style: Style) -> String {
    if runs.is_empty() {
        let mut w = Writer::new(style);
        w.line("No runs.", Paint::Soft);
        return w.finish();
    }
    let mut table = Table::default()
        .word("run (UTC)")
        .label("experiment")
        .word("state")
        .number("trials")
        .label("baseline");
    for r in runs {
        let paint = match r.state {
            RunState::Completed => Paint::Plain,
            RunState::Started => Paint::Strong,
            RunState::Failed => Paint::Bad,
            RunState::Interrupted => Paint::Warn,
        };
        let value = format!("{} {}", r.metric, value_text(r.value, &r.unit));
        table.row(vec![
            cell(r.id.to_string()),
            cell(r.experiment.clone()),
            (r.state.name().to_owned(), paint),
            cell(format!("{}/{}", r.completed, r.planned)),
            cell(value),
        ]);
    }
    table.render(style)
}
