//! N1: the nodes of one job are alike.

use super::observations_only;
use crate::prelude::*;

pub const NODES_ALIKE: CheckRow = CheckRow {
    id: "N1",
    name: "nodes-alike",
    section: CheckSection::Nodes,
    severity: W,
    escalation: "a note where what differs is soft",
    needs: "a description of every node of the job",
    fires: "nodes of one job differ in a fact that may explain results",
    why: "the slowest node is the result of all",
    remedy: "choose nodes of one kind (`where.constraint`); the description has every difference under `node.`",
    source: "own design",
    evidence: "every agent describes its node (`assay run --on slurm`)",
};

pub(crate) const CHECK: Check = Check::new(&NODES_ALIKE, observations_only)
    .always_checked("a trial does not begin before every agent has described its node");
