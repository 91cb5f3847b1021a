//! F19: every member of a suite has a result, or a reason why not.

use crate::prelude::*;

pub const SUITE_COMPLETE: CheckRow = CheckRow {
    id: "F19",
    name: "suite-complete",
    section: CheckSection::Workload,
    severity: WARNING,
    escalation: "invalid when the treatments' means cover different members",
    needs: "the suite's manifest, every member's result, reasons for missing ones",
    fires: "a member is missing without a reason",
    why: "the members with bad results are the ones that go missing",
    remedy: "run every member, or exclude what one treatment lacks from all means and state it",
    source: "golang/go#57648; Heiser A2",
    evidence: "the members of a suite and their results",
};

pub const CHECK: Check = Check::new(&SUITE_COMPLETE, evaluate)
    .always_checked("the members of a suite are in the plan of its run");

fn evaluate(e: &Evidence) -> Evaluation {
    let suite = e.suite.need("the members of the suite")?;
    if suite.manifest.is_empty() {
        return missing("the members of the suite");
    }
    let mut found = Vec::new();
    for treatment in &suite.treatments {
        let missing: Vec<&str> = suite
            .manifest
            .iter()
            .filter(|m| !treatment.members.contains(*m) && !treatment.reasons.contains_key(*m))
            .map(String::as_str)
            .collect();
        if !missing.is_empty() {
            let (label, missing) = (&treatment.label, shortened_list(&missing));
            let (n, all) = (treatment.members.len(), suite.manifest.len());
            let text = format!("{label} has {n} of {all} members");
            found.push(finding(format!("{text}; missing without a reason: {missing}")));
        }
    }
    if let Some(first) = suite.treatments.first() {
        for treatment in &suite.treatments[1..] {
            if treatment.members != first.members {
                let (a, b) = (&first.label, &treatment.label);
                found.push(invalid(format!("the means of {a} and {b} cover different members")));
            }
        }
    }
    Ok(found)
}
