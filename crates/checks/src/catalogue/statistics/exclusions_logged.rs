//! F40: every trial is in the result, or the reason why not is logged.

use crate::prelude::*;

pub const EXCLUSIONS_LOGGED: CheckRow = CheckRow {
    id: "F40",
    name: "exclusions-logged",
    section: CheckSection::Statistics,
    severity: INVALID,
    escalation: "a warning for failed trials with a logged cause",
    needs: "every trial that was started, and the reason for each that is not in the result",
    fires: "a trial is left out without a rule fixed before or a logged cause",
    why: "dropping trials allows choosing the result",
    remedy: "read the trials' errors; a failure that depends on the treatment biases the rest",
    source: "Georges et al. 2007; Heiser",
    evidence: "the ledger and the trials of the run",
};

pub const CHECK: Check =
    Check::new(&EXCLUSIONS_LOGGED, evaluate).always_checked("every trial has a record");

fn evaluate(e: &Evidence) -> Evaluation {
    let x = need(e.exclusions.as_ref(), "the started trials")?;
    let all = x.started;
    let failed = x.excluded.iter().filter(|l| l.failed && l.reason.is_some()).count();
    let silent: Vec<String> =
        x.excluded.iter().filter(|l| l.reason.is_none()).map(|l| l.trial.to_string()).collect();
    let mut found = Vec::new();
    if failed > 0 {
        let text = format!("{failed} of {all} trials failed and are not in the result");
        found.push(warning(format!("{text}; their records have the reasons")));
    }
    if !silent.is_empty() {
        let with =
            x.ratio_with_them.map_or(String::new(), |r| format!("; with them the ratio is {r:.3}"));
        let names: Vec<&str> = silent.iter().map(String::as_str).collect();
        found.push(finding(format!(
            "{} of {all} trials were left out without a reason ({}){with}",
            silent.len(),
            shortened_list(&names)
        )));
    }
    Ok(found)
}
