//! F13: the system did not change during the run.

use std::collections::BTreeSet;

use crate::FactsAfterTrials;
use crate::prelude::*;

pub const ENVIRONMENT_STABLE: CheckRow = CheckRow {
    id: "F13",
    name: "environment-stable",
    section: CheckSection::Environment,
    severity: I,
    escalation: "",
    needs: "descriptions before and after, boot ids",
    fires: "something changed during a treatment, or a reboot fell into it",
    why: "the trials before and after the change are of two systems",
    remedy: "find what changed it and run again",
    source: "own rule",
    evidence: "watched settings, read again after trials (at most once a second) and after the last",
};

pub(crate) const CHECK: Check = Check::new(&ENVIRONMENT_STABLE, evaluate).judged_in_trials();

fn evaluate(e: &Evidence) -> Evaluation {
    let mut found: Vec<FiredCheck> = Vec::new();
    let mut lacking = Vec::new();
    for treatment in e.measured()? {
        let snapshots =
            need(treatment.snapshots.as_ref(), format!("the system of {}", treatment.label))?;
        match &snapshots.after {
            FactsAfterTrials::NotTaken => {
                lacking.push(format!("the system after {}", treatment.label));
            }
            FactsAfterTrials::Same => {}
            FactsAfterTrials::Changed(paths) => {
                let list: Vec<&str> = paths.keys().map(String::as_str).collect();
                let list = shortened(&list);
                found.push(plain(format!("{list} changed during the run")));
            }
        }
        if snapshots.boots.len() > 1 {
            found.push(plain(format!("the machine was rebooted during {}", treatment.label)));
        }
    }
    found_or_missing(same_for_all(found, e.treatments.len()), &lacking)
}

/// Keeps one of several findings with the same message, which all treatments share.
fn same_for_all(found: Vec<FiredCheck>, treatments: usize) -> Vec<FiredCheck> {
    let mut seen = BTreeSet::new();
    if treatments < 2 {
        return found;
    }
    found.into_iter().filter(|f| seen.insert(f.message.clone())).collect()
}
