//! The plan before it runs: treatments, trials, order, time, the detectable effect.

use assay_model::Plan;

use super::Style;
use super::writer::Writer;
use crate::document::{Table, Tone, cell};
use crate::figures::count;

/// What is known before a run.
#[derive(Debug, Clone, Copy)]
pub struct PlanView<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// When it stops, as a sentence.
    pub stop_rule: &'a str,
    /// How long it will take, and how that is known, as a sentence.
    pub time: &'a str,
    /// The smallest difference that it would find, as a sentence.
    pub detectable: &'a str,
    /// The lines that the workload will run, for a person to read before it does.
    pub lines: &'a [String],
}

/// How many blocks of the order are shown.
const BLOCKS_SHOWN: u32 = 4;

/// The plan as text.
pub fn plan(view: &PlanView<'_>, style: Style) -> String {
    let plan = view.plan;
    let mut w = Writer::new(style);
    let blocks = plan.trials.iter().map(|t| t.block + 1).max().unwrap_or(0);
    w.heading(&format!("plan of {}", plan.workload.name));
    w.pairs(&[
        (
            "trials",
            format!(
                "{}: {} in {}, seed {}",
                plan.trials.len(),
                count(plan.treatments.len(), "treatment"),
                count(blocks as usize, "block"),
                plan.seed
            ),
        ),
        ("metric", plan.metric.clone()),
        ("stops", view.stop_rule.to_owned()),
        ("time", view.time.to_owned()),
        ("detectable", view.detectable.to_owned()),
    ]);
    w.blank();
    let mut table = Table::default()
        .number("id")
        .label("treatment")
        .number("trials")
        .number("warm-ups")
        .word("");
    for t in &plan.treatments {
        let of = |warmup: bool| {
            plan.trials
                .iter()
                .filter(|p| p.treatment == t.id && p.warmup == warmup)
                .count()
                .to_string()
        };
        let mark = if t.id == plan.baseline && plan.treatments.len() > 1 { "baseline" } else { "" };
        table.row(vec![
            cell(t.id.to_string()),
            cell(t.label()),
            cell(of(false)),
            cell(of(true)),
            cell(mark).tone(Tone::Soft),
        ]);
    }
    w.raw(&table.render(style));
    if plan.treatments.len() > 1 {
        w.blank();
        w.line("order, by treatment id", Tone::Strong);
        for block in 0..blocks.min(BLOCKS_SHOWN) {
            let ids: Vec<String> = plan
                .trials
                .iter()
                .filter(|t| t.block == block)
                .map(|t| t.treatment.to_string())
                .collect();
            w.wrapped(2, &format!("block {}: {}", block + 1, ids.join(" ")), Tone::Plain);
        }
        if blocks > BLOCKS_SHOWN {
            w.line(
                &format!("  and {} more", count((blocks - BLOCKS_SHOWN) as usize, "block")),
                Tone::Soft,
            );
        }
    }
    if !view.lines.is_empty() {
        w.blank();
        w.line("runs", Tone::Strong);
    }
    for line in view.lines {
        w.wrapped(2, line, Tone::Plain);
    }
    w.finish()
}
