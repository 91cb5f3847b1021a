//! F39: sampling ended by a rule that was registered before the first trial.

use crate::prelude::*;

pub const STOPPING_RULE: CheckRow = CheckRow {
    id: "F39",
    name: "stopping-rule",
    section: CheckSection::Statistics,
    severity: WARNING,
    escalation: "invalid when sampling ended at the first significant look",
    needs: "the rule, the time of its registration, the interim looks at the data",
    fires: "the number of trials was chosen after seeing data, under no registered rule",
    why: "a look after every pair finds a difference in 28 of 100 comparisons without an effect",
    remedy: "fix the number of blocks before, or use looks with limits (`--until-clear`)",
    source: "Laaber et al. 2020; nvbench#374; simulated",
    evidence: "the ledger: stop rule, looks, how the run ended",
};

pub const CHECK: Check = Check::new(&STOPPING_RULE, evaluate);

fn evaluate(e: &Evidence) -> Evaluation {
    let s = need(e.stopping.as_ref(), "the stopping rule")?;
    if s.ended_on_significance == Some(true) && s.adjusted != Some(true) {
        let text = format!(
            "sampling stopped at a significant result, after {} interim looks without limits",
            s.looks
        );
        return Ok(vec![invalid(text)]);
    }
    if s.by_hand {
        return Ok(vec![finding("sampling was ended by hand, with the running estimate in view")]);
    }
    if s.rule.is_none() {
        return Ok(vec![finding("no stopping rule was declared")]);
    }
    let before =
        *need(s.registered_before.as_ref(), "the time at which the stopping rule was registered")?;
    if !before {
        return Ok(vec![finding("the stopping rule was not registered before the first trial")]);
    }
    match (s.looks, s.adjusted) {
        (0, _) | (_, Some(true)) => Ok(Vec::new()),
        (n, Some(false)) => {
            Ok(vec![finding(format!("{n} interim looks at the data without limits for them"))])
        }
        (_, None) => missing("the adjustment of the limits for interim looks"),
    }
}
