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

/// The rule that ended sampling.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StoppingRule {
    /// The rule as a sentence; `None` if there is no rule.
    pub rule: Option<String>,
    /// True if the rule was registered before the first trial.
    pub registered_before: Option<bool>,
    /// Number of interim looks at the data.
    pub looks: u32,
    /// True if the limits allow for the interim looks.
    pub adjusted: Option<bool>,
    /// True if sampling ended because a difference had become significant.
    pub ended_on_significance: Option<bool>,
    /// True if a person who had seen the running estimate ended it.
    pub by_hand: bool,
}

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
