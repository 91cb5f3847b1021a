//! Steps that the executors on other machines share: the set-up for agents, and the record of a
//! trial from the parts that they send.

use std::time::Duration;

use assay_cluster::merge::{MergeSettings, MergedTrial, merge};
use assay_cluster::{HarnessTimes, NODES, NodePart, Setup};
use assay_model::{Finding, Observation, Plan, TrialRecord};
use assay_system::process::Output;

use crate::Lab;
use crate::executors::executor::FinishedTrial;
use crate::plan::prepare::PreparedExperiment;
use crate::trial::machine::RecordedTrial;

/// Time limit for the nodes to set up, not counting the wait until they are fit.
pub(crate) const SET_UP: Duration = Duration::from_secs(300);
/// Maximum number of further unfit nodes that a message names.
const MAX_NAMED: usize = 3;

/// Merges the parts of a trial into one record.
pub(crate) fn merged(
    ways: &MergeSettings<'_>,
    record: TrialRecord,
    parts: &[NodePart],
    took: HarnessTimes,
) -> FinishedTrial {
    let began = std::time::Instant::now();
    let mut merged = merge(record, parts, ways);
    let merge_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    merged.nodes.took = HarnessTimes { merge_ns, ..took };
    match serde_json::to_vec_pretty(&merged.nodes) {
        Ok(bytes) => merged.kept.push((NODES.into(), bytes)),
        Err(e) => merged.record.notes.push(format!("{NODES} could not be written: {e}")),
    }
    let MergedTrial { record, samples, kept, stdout, stderr, .. } = merged;
    FinishedTrial { recorded: RecordedTrial { record, samples, kept, trace: None }, stdout, stderr }
}

/// Reports findings of one kind on several nodes once, with the message of the first node.
pub(crate) fn gathered<'a>(
    nodes: impl Iterator<Item = (&'a str, &'a Vec<Observation>)>,
) -> Vec<Finding> {
    let mut all: Vec<(usize, Finding, Vec<&str>)> = Vec::new();
    for (name, seen) in nodes {
        let findings = assay_checks::judge_observations(seen);
        for (i, finding) in findings.iter().enumerate() {
            let nth = findings[..i].iter().filter(|f| f.id == finding.id).count();
            if let Some((_, _, others)) =
                all.iter_mut().find(|(n, f, _)| *n == nth && f.id == finding.id)
            {
                others.push(name);
                continue;
            }
            let mut finding = finding.clone();
            finding.message = format!("node {name}: {}", finding.message);
            all.push((nth, finding, Vec::new()));
        }
    }
    let say = |(_, mut finding, others): (usize, Finding, Vec<&str>)| {
        let shown = others.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join(", ");
        let more = others.len().saturating_sub(MAX_NAMED);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        if !others.is_empty() {
            finding.message = format!("{}; likewise on {shown}{rest}", finding.message);
        }
        finding
    };
    all.into_iter().map(say).collect()
}

/// Returns the set-up that is sent to the agents of a run.
pub(crate) fn setup(lab: &Lab<'_>, prepared: &PreparedExperiment) -> Setup {
    Setup {
        experiment: prepared.toml.clone(),
        plan: Plan { trials: Vec::new(), ..prepared.plan.clone() },
        keep_output: lab.output == Output::Keep,
        tasks_per_node: prepared.experiment.place.tasks_per_node as usize,
        name: String::new(),
        key: lab.archive.key().map(|key| key.to_hex()).unwrap_or_default(),
        look_for: Vec::new(),
    }
}
