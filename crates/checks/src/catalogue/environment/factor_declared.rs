//! F02: a declared factor distinguishes the treatments.

use crate::prelude::*;

pub const FACTOR_DECLARED: CheckRow = CheckRow {
    id: "F02",
    name: "factor-declared",
    section: CheckSection::Environment,
    severity: INVALID,
    escalation: "",
    needs: "the declared factors, the treatments' levels, the environment diff",
    fires: "no factor is declared, or a declared factor is the same in all treatments",
    why: "a comparison without a factor answers no question",
    remedy: "declare the intended difference as a factor, with a level for each treatment",
    source: "own rule",
    evidence: "the experiment declares factors; `compare --factor`",
};

pub const CHECK: Check = Check::new(&FACTOR_DECLARED, evaluate)
    .always_checked("every treatment of a plan has a level of each of its factors");

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let factors = need(e.factors.as_ref(), "the declared factors")?;
    if factors.is_empty() {
        return Ok(vec![finding("several treatments are compared, but no factor is declared")]);
    }
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    for factor in factors {
        let levels: Vec<Option<&String>> =
            treatments.iter().map(|a| a.levels.get(factor)).collect();
        if levels.iter().all(Option::is_none) {
            match e.environment.get() {
                Some(diff) if diff.factors_without_effect.contains(factor) => {
                    found.push(finding(format!(
                        "{factor} is declared as different but is the same"
                    )));
                }
                Some(_) => {}
                None => lacking.push(format!("the treatments' level of {factor}")),
            }
        } else if let Some(missing) = levels.iter().position(Option::is_none) {
            lacking.push(format!("{}'s level of {factor}", treatments[missing].label));
        } else if levels.iter().all(|l| *l == levels[0]) {
            let level = levels[0].map_or("", String::as_str);
            found.push(finding(format!(
                "{factor} is declared as different, but all treatments have {level}"
            )));
        }
    }
    found_or_missing(found, &lacking)
}
