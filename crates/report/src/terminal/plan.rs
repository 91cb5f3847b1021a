//! The plan before a run: treatments, trials, order, time and the detectable effect.

use assay_model::Plan;

use super::Style;
use crate::document::{DocumentPart, Parts, Table, Tone, cell, terminal};
use crate::figures::count;

/// Facts about a run that are known before it starts.
#[derive(Debug, Clone, Copy)]
pub struct PlanView<'a> {
    pub plan: &'a Plan,
    /// Stop rule, as a sentence.
    pub stop_rule: &'a str,
    /// Expected duration and its basis, as a sentence.
    pub time: &'a str,
    /// Smallest difference that the run would find, as a sentence.
    pub detectable: &'a str,
    /// Lines that the workload will run, for the user to read first.
    pub lines: &'a [String],
}

/// Number of blocks whose order is shown.
const BLOCKS_SHOWN: u32 = 4;

/// Formats the plan as text.
pub fn plan(view: &PlanView<'_>, style: Style) -> String {
    let plan = view.plan;
    let mut all = Parts::default();
    let blocks = plan.trials.iter().map(|t| t.block + 1).max().unwrap_or(0);
    all.titled(format!("plan of {}", plan.workload.name));
    let facts = [
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
    ];
    all.push(DocumentPart::Pairs(facts.map(|(name, value)| (name.to_owned(), value)).to_vec()));
    let mut table =
        Table::default().number("id").label("treatment").numbers(["trials", "warm-ups"]).word("");
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
    all.table(table);
    if plan.treatments.len() > 1 {
        all.titled("order, by treatment id");
        let block = |block: u32| {
            let of = plan.trials.iter().filter(|t| t.block == block);
            let ids: Vec<String> = of.map(|t| t.treatment.to_string()).collect();
            format!("block {}: {}", block + 1, ids.join(" ")).into()
        };
        let shown = (0..blocks.min(BLOCKS_SHOWN)).map(block).collect();
        all.push(DocumentPart::List(Tone::Plain, shown));
        if blocks > BLOCKS_SHOWN {
            all.note(format!("and {} more", count((blocks - BLOCKS_SHOWN) as usize, "block")));
        }
    }
    if !view.lines.is_empty() {
        all.titled("runs");
        let lines = view.lines.iter().map(|l| l.as_str().into()).collect();
        all.push(DocumentPart::List(Tone::Plain, lines));
    }
    terminal::parts(&all, style)
}
