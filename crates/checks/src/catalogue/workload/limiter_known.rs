//! F21: the bottleneck of each treatment is known.

use crate::prelude::*;

pub const LIMITER_KNOWN: CheckRow = CheckRow {
    id: "F21",
    name: "limiter-known",
    section: CheckSection::Workload,
    severity: NW,
    escalation: "invalid when a result exceeds a physical ceiling",
    needs: "a statement of what limits each treatment, results beside physical ceilings",
    fires: "there is no such statement",
    why: "who does not know what stops it from being twice as fast does not know what was measured",
    remedy: "check CPU, memory, disk and network during the run and state which is saturated",
    source: "Gregg 2018; Hoefler and Belli rule 11",
    evidence: "the load generator of a workload, else the CPU time of the trials; the probe of the control `storage`",
};

pub(crate) const CHECK: Check = Check::new(&LIMITER_KNOWN, evaluate).judged_in_trials();

fn evaluate(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    for treatment in e.measured()? {
        let limiter =
            need(treatment.limiter.as_ref(), format!("what limited {}", treatment.label))?;
        if limiter.statement.trim().is_empty() {
            found.push(plain(format!("the bottleneck of {} is not stated", treatment.label)));
        }
        for c in limiter.ceilings.iter().filter(|c| c.reached > c.ceiling) {
            found.push(grave(format!(
                "{} reached {} of {}, more than the {} there is",
                treatment.label, c.reached, c.what, c.ceiling
            )));
        }
    }
    Ok(found)
}
