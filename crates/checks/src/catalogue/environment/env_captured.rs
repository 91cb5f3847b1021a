//! F01: the systems are described before and after the trials.

use std::sync::Arc;

use crate::prelude::*;

pub const ENV_CAPTURED: CheckRow = CheckRow {
    id: "F01",
    name: "env-captured",
    section: CheckSection::Environment,
    severity: WARNING_OR_INVALID,
    escalation: "a note in profile `lab` if only the description after the trials is missing; a \
        warning for an imported run",
    needs: "descriptions of the system before and after the trials",
    fires: "a description is missing, or a required fact in it is unknown",
    why: "a system that is not described cannot be compared; an unknown value equals nothing",
    remedy: "let assay describe the system (as root if it asks), or add the facts by hand",
    source: "MLPerf submission rules; Heiser F1, F2; Hoefler and Belli rule 9",
    evidence: "assay describes the system before the first trial (`system.json`) and reads the \
        facts again after trials",
};

pub const CHECK: Check =
    Check::new(&ENV_CAPTURED, evaluate).always_checked("a missing description is a finding");

/// Facts without which a system counts as not described. Facts that only some machines report
/// (firmware, frequency, sensors) are not in the list: their absence is a difference of class
/// `unknown`.
const REQUIRED: [&str; 7] = [
    "cpu.model",
    "cpu.threads",
    "kernel.cmdline",
    "kernel.release",
    "libc.version",
    "memory.total",
    "os.id",
];

fn evaluate(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    let treatments = e.measured()?;
    for (i, treatment) in treatments.iter().enumerate() {
        // Treatments of one run share their description; one of them is enough to report it.
        let same = |a: &TreatmentEvidence| {
            let both = a.snapshots.as_ref().zip(treatment.snapshots.as_ref());
            both.is_some_and(|(a, b)| Arc::ptr_eq(a, b))
        };
        if treatments[..i].iter().any(same) {
            continue;
        }
        let label = &treatment.label;
        let Some(snapshots) = &treatment.snapshots else {
            lacking.push(format!("a description of {label}'s system"));
            continue;
        };
        match &snapshots.before {
            None => found.push(finding(format!("{label} has no description of its system"))),
            Some(system) => {
                let unknown: Vec<&str> =
                    REQUIRED.into_iter().filter(|p| system.get(p).is_none()).collect();
                if !unknown.is_empty() {
                    let unknown = unknown.join(", ");
                    let text = format!("{label} lacks {unknown}; it cannot be compared");
                    // A user cannot add facts that another tool did not record.
                    found.push(if e.imported { warning(text) } else { finding(text) });
                }
            }
        }
        if snapshots.after == FactsAfterTrials::NotTaken {
            let text = format!("the system of {label} was not described again after its trials");
            found.push(finding_at(if e.imported { WARNING } else { NOTE_OR_INVALID }, text));
        }
    }
    found_or_missing(found, &lacking)
}
