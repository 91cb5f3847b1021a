//! N4: times of an emulated machine are not compared.

use super::observations_only;
use crate::prelude::*;

pub const EMULATED_TIMES: CheckRow = CheckRow {
    id: "N4",
    name: "emulated-times",
    section: CheckSection::Nodes,
    severity: INVALID,
    escalation: "a note where a count decides",
    needs: "the accelerator of the virtual machine",
    fires: "the deciding metric is no declared count, and the machine is emulated (TCG)",
    why: "times are the emulator's: code that is slow in it may be fast on a processor",
    remedy: "let a count decide (`compare.metric`), or run where KVM works",
    source: "own design",
    evidence: "every trial with `[where] engine = \"vm\"`",
};

pub const CHECK: Check = Check::new(&EMULATED_TIMES, observations_only)
    .on_observations(judge_observation)
    .always_checked("assay starts the virtual machine and knows its accelerator");

fn judge_observation(observation: &Observation) -> Option<FiredCheck> {
    let Observation::GuestMachine { accelerator, metric, unit, counted } = observation else {
        return None;
    };
    if accelerator != "tcg" {
        return None;
    }
    let text = "the trial ran in an emulated machine (TCG), whose times are the emulator's: only \
        counts are comparable";
    Some(if counted.unwrap_or_else(|| ["1", "B", ""].contains(&unit.as_str())) {
        note(format!("{text}, and `{metric}` is one"))
    } else {
        finding(format!("{text}, and `{metric}` ({unit}) is not declared as one"))
    })
}
