//! N3: the nodes' clocks do not drift during a trial.

use assay_model::units::format_value;

use super::observations_only;
use crate::prelude::*;

pub const CLOCKS_HOLD: CheckRow = CheckRow {
    id: "N3",
    name: "clocks-hold",
    section: CheckSection::Nodes,
    severity: WARNING,
    escalation: "",
    needs: "every node's clock against the collector's before and after a trial",
    fires: "a clock moves by more than the bound of the experiment during a trial",
    why: "a drifting clock puts events of different nodes in the wrong order",
    remedy: "synchronize the nodes' clocks (chrony, clock source tsc)",
    source: "own design",
    evidence: "the collector reads every agent's clock before and after a trial",
};

pub const CHECK: Check = Check::new(&CLOCKS_HOLD, observations_only)
    .on_observations(judge_observation)
    .always_checked("a trial starts after every agent's clock was read");

fn judge_observation(observation: &Observation) -> Option<FiredCheck> {
    let Observation::ClockDrift { node, drift, bound } = observation else { return None };
    let time = |s: &f64| format_value(*s, "s");
    (drift > bound).then(|| {
        finding(format!(
            "the clock of node {node} drifted by {} against the collector's; the bound \
             is {}",
            time(drift),
            time(bound)
        ))
    })
}
