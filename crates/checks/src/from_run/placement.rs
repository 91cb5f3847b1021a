//! Evidence about memory placement on a machine with several NUMA nodes, from an archived run.

use std::collections::BTreeMap;

use assay_model::environment::cpulist;
use assay_model::{NodeBytes, Observation, SystemDescription, TrialRecord};

use crate::{BoundMemory, Placement};

/// Returns the nodes to which controls (`settings`) and the workload set a treatment's memory, and
/// the bytes per node observed in the counting trials.
pub(super) fn placement(
    system: Option<&SystemDescription>,
    settings: &BTreeMap<String, String>,
    of: &[&TrialRecord],
) -> Placement {
    let nodes: Option<u32> = system.and_then(|s| s.get("numa.nodes")?.parse().ok());
    let counting: Vec<&TrialRecord> = of.iter().copied().filter(|r| r.counts()).collect();
    let fewer = |asked: &[u32]| !asked.is_empty() && nodes.is_none_or(|n| asked.len() < n as usize);
    let mut set = Vec::new();
    if let Some((what, nodes)) = by_controls(system, settings).filter(|(_, asked)| fewer(asked)) {
        let bytes_by_node = counting.iter().map(|r| bytes_by_node(r, "")).collect();
        set.push(BoundMemory { what, nodes, bytes_by_node });
    }
    for (part, asked) in parts(&counting) {
        if fewer(&asked) {
            let what = format!("{part}, as its workload set it");
            let bytes_by_node = counting.iter().map(|r| bytes_by_node(r, &part)).collect();
            set.push(BoundMemory { what, nodes: asked, bytes_by_node });
        }
    }
    // On a machine with one node every placement is known.
    if nodes == Some(1) {
        set.clear();
    }
    Placement { nodes, set }
}

/// Returns the control that sets a program's memory to nodes, and those nodes; `None` if no control
/// does.
fn by_controls(
    system: Option<&SystemDescription>,
    settings: &BTreeMap<String, String>,
) -> Option<(String, Vec<u32>)> {
    if let Some(policy) = settings.get("numa").filter(|p| p.as_str() != "default") {
        let (mode, list) = policy.split_once(':')?;
        let nodes = cpulist::parse(list).ok().filter(|_| mode != "interleave")?;
        return Some((
            format!("controls.numa = {policy}"),
            nodes.iter().map(|n| *n as u32).collect(),
        ));
    }
    // By default, a page is allocated on the node of the CPU that first touches it.
    let list = settings.get("cpus")?;
    let cpus = cpulist::parse(list).ok()?;
    let near = |path: &str| -> Option<u32> {
        path.strip_prefix("numa.node")?.strip_suffix(".cpus")?.parse().ok()
    };
    let facts = system?.facts.iter().filter_map(|(path, fact)| {
        let here = cpulist::parse(fact.value()?).ok()?;
        Some((near(path)?, here)).filter(|(_, here)| here.iter().any(|c| cpus.contains(c)))
    });
    let nodes: Vec<u32> = facts.map(|(node, _)| node).collect();
    Some((format!("controls.cpus = {list}"), nodes))
}

/// Returns the parts of a program that the workload bound to nodes.
fn parts(records: &[&TrialRecord]) -> BTreeMap<String, Vec<u32>> {
    let all = records.iter().flat_map(|r| &r.evidence);
    all.filter_map(|o| match o {
        Observation::NodeMemory { of, asked, .. } if !asked.is_empty() => {
            Some((of.clone(), asked.clone()))
        }
        _ => None,
    })
    .collect()
}

/// Returns the bytes per node of a part in one trial, from the last observation of that part.
fn bytes_by_node(record: &TrialRecord, part: &str) -> Result<BTreeMap<u32, u64>, String> {
    let recorded = record.evidence.iter().rev().find_map(|o| match o {
        Observation::NodeMemory { of, nodes, unseen, .. } if of == part => Some((nodes, unseen)),
        _ => None,
    });
    match recorded {
        None => Err("nobody looked".to_owned()),
        Some((nodes, why)) if nodes.is_empty() => Err(why.clone()),
        Some((nodes, _)) => {
            Ok(nodes.iter().map(|NodeBytes { node, bytes }| (*node, *bytes)).collect())
        }
    }
}
