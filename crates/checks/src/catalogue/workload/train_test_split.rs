//! F18: no program is measured on the data it was tuned on.

use crate::prelude::*;

pub const TRAIN_TEST_SPLIT: CheckRow = CheckRow {
    id: "F18",
    name: "train-test-split",
    section: CheckSection::Workload,
    severity: WARNING,
    escalation: "",
    needs: "the inputs used for feedback-directed optimisation or tuning, and the measured ones",
    fires: "a treatment was tuned on the input it is measured on",
    why: "the program may be fitted to that input alone",
    remedy: "tune on other data than the measured data",
    source: "van der Kouwe et al. 2018; Heiser C3",
    evidence: "the parameters `feedback` and `size` of a kit that is built with feedback",
};

pub const CHECK: Check = Check::new(&TRAIN_TEST_SPLIT, evaluate)
    .always_checked("the training input and the measured input are parameters of the plan");

fn evaluate(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    let mut absent = None;
    for treatment in e.measured()? {
        let tuned = match &treatment.tuned_on {
            RecordedValue::Absent(why) => {
                absent = Some(why.clone());
                continue;
            }
            other => other.need(&format!("the tuning input of {}", treatment.label))?,
        };
        let work = treatment.need(treatment.work.as_ref(), "the input")?;
        let input = treatment.need(work.input.as_ref(), "the input")?;
        if tuned.contains(input) {
            let label = &treatment.label;
            found.push(finding(format!("{label} was tuned on the data it is measured on")));
        }
    }
    match absent {
        Some(why) if e.treatments.iter().all(|a| a.tuned_on.get().is_none()) => not_applicable(why),
        _ => Ok(found),
    }
}
