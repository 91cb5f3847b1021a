//! F03: nothing but the declared factors differs between the systems.

use crate::prelude::*;

pub const CONFOUNDER: CheckRow = CheckRow {
    id: "F03",
    name: "confounder",
    section: CheckSection::Environment,
    severity: WARNING,
    escalation: "invalid when the difference is of class hard",
    needs: "the environment diff with classes",
    fires: "a fact differs that is neither a factor nor entailed by one, and was not accepted",
    why: "the difference may explain the result",
    remedy: "make it equal, declare it as a factor, or accept a soft difference with a reason",
    source: "larql#370; Mytkowicz et al. 2009",
    evidence: "`compare` reads the descriptions of the runs",
};

pub const CHECK: Check = Check::new(&CONFOUNDER, evaluate);

fn evaluate(e: &Evidence) -> Evaluation {
    use assay_model::environment::DifferenceClass::Hard;
    e.compared()?;
    let diff = e.environment.need("a diff of the treatments' systems")?;
    let named = |hard: bool| -> Vec<&str> {
        let standing = diff.differences.iter().filter(|d| d.stands());
        standing.filter(|d| (d.class == Hard) == hard).map(|d| d.path.as_str()).collect()
    };
    let mut found = Vec::new();
    let hard = named(true);
    if !hard.is_empty() {
        let list = shortened_list(&hard);
        found.push(invalid(format!(
            "{list} differ and are not the factor; they may explain the result"
        )));
    }
    let soft = named(false);
    if !soft.is_empty() {
        let list = assay_model::folded_facts(soft.iter().copied());
        found.push(finding(format!(
            "{list} differ, or are not known to agree; they might explain a result"
        )));
    }
    Ok(found)
}
