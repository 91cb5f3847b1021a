//! F44: the choice of the mean does not decide the order of the treatments.

use crate::prelude::*;

pub const MEAN_SENSITIVITY: CheckRow = CheckRow {
    id: "F44",
    name: "mean-sensitivity",
    section: CheckSection::Statistics,
    severity: WARNING,
    escalation: "",
    needs: "the members' values in both treatments",
    fires: "geometric mean and total disagree on the order, or a mean is shown without its members",
    why: "the choice of the mean decides the result",
    remedy: "show members, both summaries, the best and the worst",
    source: "Eeckhout 2024",
    evidence: "the scores of a suite",
};

pub const CHECK: Check = Check::new(&MEAN_SENSITIVITY, evaluate);

fn evaluate(e: &Evidence) -> Evaluation {
    let s = e.suite.need("the members of the suite")?;
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    match s.members_shown {
        Some(false) => found.push(finding("the mean is shown without its members")),
        Some(true) => {}
        None => lacking.push("the display of the members".to_owned()),
    }
    let Some((first, others)) = s.treatments.split_first() else {
        return found_or_missing(found, &lacking);
    };
    for treatment in others {
        let (a, b) = (&first.label, &treatment.label);
        match treatment.against_first {
            Some((mean, totals)) if (mean - 1.0) * (totals - 1.0) < 0.0 => {
                found.push(finding(format!(
                    "{b} against {a}: geometric mean {mean:.3}, ratio of totals {totals:.3}"
                )));
            }
            Some(_) => {}
            None => lacking.push(format!("a value of every member in {a} and {b}")),
        }
    }
    found_or_missing(found, &lacking)
}
