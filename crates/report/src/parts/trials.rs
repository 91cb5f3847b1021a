//! Every trial that was started, with its outcome and its result.

use std::collections::BTreeSet;

use assay_model::{Exit, Guest, TrialOutcome, TrialRecord, ValidationResult};

use crate::document::table::{ColumnKind, TableRow};
use crate::document::{Outputs, Parts, Table, TableCell, Tone, cell};
use crate::figures::{value_mark, value_text};
use crate::gate::Gate;
use crate::view::RunView;

/// Returns every trial in order, and the trials that were planned but never started.
pub(crate) fn trials(view: &RunView, gate: &Gate) -> Parts {
    let a = &gate.analysis;
    let mut table = Table::captioned("Every trial that was started, in order")
        .numbers(["trial", "block"])
        .label("treatment")
        .word("outcome")
        .number(&a.metric)
        .column(Outputs::Page, ColumnKind::Number, "wall time")
        .column(Outputs::Page, ColumnKind::Word, "exit")
        .column(Outputs::Page, ColumnKind::Word, "output")
        .column(Outputs::Published, ColumnKind::Word, "started (UTC)");
    let imported = view.imported().is_some();
    for r in &view.records {
        let attempt =
            if r.attempt > 1 { format!(" (attempt {})", r.attempt) } else { String::new() };
        let warmup = if r.warmup { ", warm-up" } else { "" };
        let tone = if r.outcome == TrialOutcome::Completed { Tone::Plain } else { Tone::Bad };
        let mut cells = vec![
            cell(format!("{}{attempt}", r.number)),
            cell((r.block + 1).to_string()),
            cell(view.label(r.treatment)),
            cell(format!("{}{warmup}", r.outcome.words())).tone(tone),
        ];
        if let Some(w) = gate.trial(r) {
            cells.extend(TableCell::withheld(2, format!("withheld: {}", w.finding)));
        } else {
            let doubtful = r.metrics.iter().any(|m| m.name == a.metric && m.doubt.is_some());
            let value = value_text(r.metric(&a.metric), &a.unit);
            cells.push(cell(value + value_mark(a, doubtful)));
            let wall = value_text(r.resources.as_ref().map(|u| u.wall_s), "s");
            cells.push(cell(wall + value_mark(a, a.guest == Some(Guest::Emulated))));
        }
        let started = r.started_at.replace('T', " ");
        cells.push(cell(exit(r, imported)));
        cells.push(cell(validation(r)));
        cells.push(cell(started.trim_end_matches('Z')));
        let class = (!r.counts()).then_some("not-counted");
        table.rows.push(TableRow {
            id: format!("trial-{}", r.number),
            class,
            cells,
            ..TableRow::default()
        });
    }
    let started: BTreeSet<u32> = view.records.iter().map(|r| r.number).collect();
    let missing = |t: &&assay_model::PlannedTrial| !started.contains(&t.number);
    let missing: Vec<String> =
        view.plan.trials.iter().filter(missing).map(|t| t.number.to_string()).collect();
    let mut out = Parts::default();
    out.heading("trials", "Every trial");
    out.table(table);
    if !missing.is_empty() {
        out.note(format!("Planned and never started: trials {}.", missing.join(", ")));
    }
    out
}

fn exit(r: &TrialRecord, imported: bool) -> String {
    match r.exit {
        None if imported => "not stated".to_owned(),
        Some(Exit::Code(c)) => format!("code {c}"),
        Some(Exit::Signal(s)) => format!("signal {s}"),
        None => "never started, or ended by assay".to_owned(),
    }
}

fn validation(r: &TrialRecord) -> &'static str {
    match r.validation {
        ValidationResult::Passed { .. } => "right",
        ValidationResult::Failed { .. } => "wrong",
        ValidationResult::ExitCodeOnly => "exit code only",
        ValidationResult::NotReached => "not checked",
    }
}
