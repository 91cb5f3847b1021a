//! N2: the nodes are in their steady phases at the same time.

use super::observations_only;
use crate::prelude::*;

pub const PHASES_COINCIDE: CheckRow = CheckRow {
    id: "N2",
    name: "phases-coincide",
    section: CheckSection::Nodes,
    severity: W,
    escalation: "",
    needs: "the phases of every node on one clock",
    fires: "steady phases begin or end further apart than the bound of the experiment",
    why: "a node that measures while another is idle measures another load",
    remedy: "measure for longer, so that the edges matter less, or raise `where.phase_bound` with a reason",
    source: "own design",
    evidence: "the merged record of a trial over nodes",
};

pub(crate) const CHECK: Check = Check::new(&PHASES_COINCIDE, observations_only)
    .always_checked("a trial that a node leaves does not count");
