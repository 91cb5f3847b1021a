//! F26: all treatments used one warm-up rule.

use crate::prelude::*;

pub const WARM_UP_EQUAL: CheckRow = CheckRow {
    id: "F26",
    name: "warm-up-equal",
    section: CheckSection::Workload,
    severity: NOTE_OR_WARNING,
    escalation: "",
    needs: "the warm-up rule of each treatment",
    fires: "treatments used different rules, or a fixed count was not tested",
    why: "a warm-up that is assumed is too short for one treatment and too long for the other",
    remedy: "use one rule for all treatments, and test that it suffices",
    source: "Traini et al. 2022; Georges et al. 2007",
    evidence: "the design of the experiment (`warmup_blocks`)",
};

pub const CHECK: Check =
    Check::new(&WARM_UP_EQUAL, evaluate).always_checked("the warm-up is a part of the design");

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.measured()?;
    let first = *treatments[0].need(treatments[0].warmup.as_ref(), "the warm-up")?;
    let mut found = Vec::new();
    for treatment in treatments {
        let rule = *treatment.need(treatment.warmup.as_ref(), "the warm-up")?;
        if rule != first {
            let (a, b) = (&treatments[0].label, &treatment.label);
            found.push(warning(format!("{a} and {b} were warmed up by different rules")));
        }
    }
    if first > 0 && found.is_empty() {
        found.push(finding(format!("a warm-up of {first} was assumed to suffice, not tested")));
    }
    Ok(found)
}
