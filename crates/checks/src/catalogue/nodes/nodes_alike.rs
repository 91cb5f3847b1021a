//! N1: the nodes of one job are alike.

use super::observations_only;
use crate::prelude::*;

pub const NODES_ALIKE: CheckRow = CheckRow {
    id: "N1",
    name: "nodes-alike",
    section: CheckSection::Nodes,
    severity: WARNING,
    escalation: "a note for soft differences",
    needs: "a description of every node of the job",
    fires: "nodes of one job differ in a fact that may explain results",
    why: "the slowest node determines the result",
    remedy: "choose nodes of one kind (`where.constraint`); differences are under `node.`",
    source: "own design",
    evidence: "every agent describes its node (`assay run --on slurm`)",
};

pub const CHECK: Check = Check::new(&NODES_ALIKE, observations_only)
    .on_observations(judge_observation)
    .always_checked("a trial starts after every agent has described its node");

/// Maximum number of differences, and of nodes in each, that the message lists.
const MAX_SHOWN: usize = 4;

fn judge_observation(observation: &Observation) -> Option<FiredCheck> {
    let Observation::UnlikeNodes { differences } = observation else { return None };
    let hard = differences.first()?.hard;
    let shown: Vec<String> = differences
        .iter()
        .take(MAX_SHOWN)
        .map(|d| {
            let others = d.others.iter().take(MAX_SHOWN).cloned().collect::<Vec<_>>().join(", ");
            let more = if d.others.len() > MAX_SHOWN { ", ..." } else { "" };
            format!("{} ({}: {}; {others}{more}: {})", d.path, d.first[0], d.first[1], d.other)
        })
        .collect();
    let more = differences.len().saturating_sub(MAX_SHOWN);
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    let text = format!("the nodes are not alike: {}{rest}", shown.join(", "));
    Some(if hard { finding(text) } else { note(text) })
}
