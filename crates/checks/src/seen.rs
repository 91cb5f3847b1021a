//! Turns single observations about a trial or the machine into findings.

mod doubt;
mod host;
pub(crate) mod judged;
mod load;
mod nodes;
mod program;

use assay_model::{Finding, FiredCheck, Observation, TrialRecord};

use crate::catalogue;
pub use host::BUSY;
use judged::JudgedCheck;

/// Judges one observation; `None` if nothing is wrong. An observation from an outside program that
/// names an unknown check gives `None`: [`crate::find`] returns the known ones.
pub fn judge_seen(seen: &Observation) -> Option<Finding> {
    let (row, found) = host::judge(seen)
        .or_else(|| program::judge(seen))
        .or_else(|| load::judge(seen))
        .or_else(|| nodes::judge(seen))
        .or_else(|| doubt::judge(seen))
        .or_else(|| reported(seen))?;
    Some(row.finding(found))
}

/// Judges several observations and returns the findings, most severe first.
pub fn judge_all(seen: &[Observation]) -> Vec<Finding> {
    let mut found: Vec<Finding> = seen.iter().filter_map(judge_seen).collect();
    found.sort_by_key(|f| std::cmp::Reverse(f.severity));
    found
}

/// Adds an observation and its finding to a trial's record. Metric values that the observation
/// makes doubtful get the finding's message as their `doubt`.
pub fn see(record: &mut TrialRecord, seen: Observation) {
    let found = judge_seen(&seen);
    if let Some(found) = &found {
        let touched = record.metrics.iter_mut().filter(|m| doubt::touches(&seen, m));
        touched.for_each(|m| m.doubt = Some(found.message.clone()));
    }
    record.findings.extend(found);
    record.evidence.push(seen);
}

fn reported(seen: &Observation) -> JudgedCheck {
    let Observation::Reported { check, message, remedy } = seen else { return None };
    let row = catalogue::find(check)?.row;
    let found = FiredCheck::new(message.clone());
    Some((row, if remedy.is_empty() { found } else { found.remedy(remedy.clone()) }))
}
