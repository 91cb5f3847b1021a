//! Waits for a CPU as a table by task name.

use assay_traces::runqueue::{FILE, RunQueue};
use maud::Markup;

use super::trial_groups::{self, MAX_ROWS, TrialGroup};
use super::view::TracerView;
use crate::document::{DocumentPart, Parts, Table, cell};
use crate::parts::io::{optional, time};

pub(super) const VIEW: TracerView = TracerView {
    tab: ("run-queue", "Run queue"),
    section: ("runqueue", "Waits for a CPU"),
    run: |view| trial_groups::of_treatments(view, &FILE, side_by_side),
    runs: |views, shown| trial_groups::of_runs(views, shown, &FILE, side_by_side),
    difference: None,
};

/// Renders the waits side by side.
fn side_by_side(groups: Vec<TrialGroup<'_, RunQueue>>, _confidence: f64) -> Option<Markup> {
    trial_groups::tables(
        groups,
        "Time from when a task could run (woken, created or preempted) to when it ran.",
        "waits",
        |_, _, _| None,
        |of| Parts::from_part(DocumentPart::Table(table(of))),
    )
}

fn table(trials: &[&RunQueue]) -> Table {
    let all = RunQueue::merged(trials.iter().copied());
    let caption = "Waits for a CPU by task name, the longest total first";
    let mut t = Table::captioned(caption.to_owned()).label("task");
    t = t.numbers(["waits", "total", "mean", "p50", "p99", "longest"]);
    for task in all.iter().take(MAX_ROWS) {
        let times = task.histogram();
        t.row(vec![
            cell(task.program.clone()),
            cell(task.waits().to_string()),
            cell(time(task.ns as f64)),
            optional(times.mean(), time),
            optional(times.percentile(0.5), time),
            optional(times.percentile(0.99), time),
            cell(time(task.longest_ns as f64)),
        ]);
    }
    t
}
