//! N3: the nodes' clocks do not drift during a trial.

use super::observations_only;
use crate::prelude::*;

pub const CLOCKS_HOLD: CheckRow = CheckRow {
    id: "N3",
    name: "clocks-hold",
    section: CheckSection::Nodes,
    severity: W,
    escalation: "",
    needs: "every node's clock against the collector's before and after a trial",
    fires: "a clock moves by more than the bound of the experiment during a trial",
    why: "what is laid side by side in time was not",
    remedy: "see that the nodes keep time (chrony, and the clock source tsc)",
    source: "own design",
    evidence: "the collector asks every agent's clock around a trial",
};

pub(crate) const CHECK: Check = Check::new(&CLOCKS_HOLD, observations_only)
    .always_checked("a trial does not begin before every agent's clock is read");
