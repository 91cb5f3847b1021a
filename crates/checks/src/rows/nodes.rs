//! Rows N1 to N4: trials on several machines and in virtual machines.

use assay_model::{CheckRow, CheckSection};

use super::{I, W};

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

pub const EMULATED_TIMES: CheckRow = CheckRow {
    id: "N4",
    name: "emulated-times",
    section: CheckSection::Nodes,
    severity: I,
    escalation: "a note where a count decides",
    needs: "what ran the instructions of a virtual machine",
    fires: "the metric that decides is not declared as a count, and the trial ran in an emulated machine (TCG)",
    why: "an emulator's time is its own: what is slow on it need not be slow on a processor",
    remedy: "let a count decide (`compare.metric`), or run where KVM works",
    source: "own design",
    evidence: "every trial with `[where] engine = \"vm\"`",
};
