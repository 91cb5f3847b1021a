//! F60: others can repeat the result.

use crate::prelude::*;

pub const REPEATABLE: CheckRow = CheckRow {
    id: "F60",
    name: "repeatable",
    section: CheckSection::Claims,
    severity: NOTE_OR_WARNING,
    escalation: "invalid when a rerun's interval excludes the published value",
    needs: "raw data, experiment or script, versions, changes without a version, a rerun",
    fires: "something that a rerun needs is missing, or the programs had changes without a version",
    why: "a number that cannot be reproduced is an anecdote",
    remedy: "publish with the whole run (`assay publish`) and name versions",
    source: "MLPerf power and submission rules; SPEC on reproducibility",
    evidence: "the ledger and the programs of the run, and the source trees that contain them",
};

pub const CHECK: Check = Check::new(&REPEATABLE, evaluate);

fn evaluate(e: &Evidence) -> Evaluation {
    let r = need(e.repeat.as_ref(), "the material for a rerun")?;
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    if let Some((published, interval)) = r.rerun
        && !interval.contains(published)
    {
        found.push(invalid(format!(
            "a rerun gave {} to {}, published is {published}",
            interval.low, interval.high
        )));
    }
    for (what, given) in [("the raw data", r.raw_data), ("the scripts", r.scripts)] {
        match given {
            Some(false) => found.push(finding(format!("{what} are not given"))),
            Some(true) => {}
            None => lacking.push(format!("the publication of {what}")),
        }
    }
    match r.dirty {
        Some(true) => found.push(finding("the programs had changes that no version names")),
        Some(false) => {}
        None => lacking.push("changes of the programs without a version".to_owned()),
    }
    if r.version.is_none() {
        lacking.push("the versions of the programs".to_owned());
    }
    found_or_missing(found, &lacking)
}
