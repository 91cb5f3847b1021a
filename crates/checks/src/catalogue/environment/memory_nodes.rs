//! F62: memory that is bound to NUMA nodes was on them.

use std::collections::BTreeMap;

use assay_model::environment::cpulist;

use crate::prelude::*;

pub const MEMORY_NODES: CheckRow = CheckRow {
    id: "F62",
    name: "memory-nodes",
    section: CheckSection::Environment,
    severity: WARNING,
    escalation: "",
    needs: "the NUMA nodes to which a treatment is bound (controls numa and cpus, a workload's own \
        parameter), and those that held its memory",
    fires: "more than 5 % of the memory of a trial that is bound to some nodes was on others",
    why: "remote memory is slower and shared: the trial did not run as its settings state",
    remedy: "free memory on that node first (controls drop_caches and compact_memory), or bind it \
        (controls.numa = \"bind:N\"), which fails if none is free; check if the program places its \
        memory itself",
    source: "Lameter 2013; Documentation/admin-guide/mm/numa_memory_policy",
    evidence: "assay reads `numa_maps`, or the counters of the trial's control group, while a \
        trial runs on a machine with several nodes",
};

pub const CHECK: Check = Check::new(&MEMORY_NODES, evaluate);

/// Share of memory on other nodes above which a treatment gets a finding.
const MAX_SHARE_ELSEWHERE: f64 = 0.05;

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.measured()?;
    let (mut found, mut lacking, mut set, mut one) = (Vec::new(), Vec::new(), 0, false);
    for treatment in treatments {
        let label = &treatment.label;
        let placement = treatment.need(treatment.placement.as_ref(), "the intended NUMA nodes")?;
        one |= placement.nodes == Some(1);
        for placed in &placement.set {
            set += 1;
            if placement.nodes.is_none() {
                return missing("the number of NUMA nodes of the machine");
            }
            match worst(placed) {
                Some((trials, share)) if share > MAX_SHARE_ELSEWHERE => {
                    let text = format!(
                        "in {trials} of {} trials of {label} memory was on other NUMA nodes than \
                        {} ({}): up to {:.0} % of it",
                        placed.bytes_by_node.len(),
                        node_list(placed),
                        placed.what,
                        100.0 * share
                    );
                    found.push(about(finding(text), &[treatment], treatments));
                }
                _ => {}
            }
            if let Some(why) = placed.bytes_by_node.iter().find_map(|l| l.as_ref().err()) {
                lacking.push(format!("the NUMA nodes of the memory of {label} ({why})"));
            }
        }
    }
    match (set, one) {
        // The machine has one node, so memory cannot be on another.
        (0, true) => Ok(found),
        (0, false) => not_applicable("no treatment is set to some of the NUMA nodes"),
        _ => found_or_missing(found, &lacking),
    }
}

/// Returns the number of trials with more than [`ELSEWHERE`] of the memory on other nodes, and the
/// largest share.
fn worst(placed: &BoundMemory) -> Option<(usize, f64)> {
    let shares: Vec<f64> = placed
        .bytes_by_node
        .iter()
        .flatten()
        .filter_map(|bytes| share_elsewhere(bytes, &placed.nodes))
        .collect();
    let most = shares.iter().copied().reduce(f64::max)?;
    Some((shares.iter().filter(|s| **s > MAX_SHARE_ELSEWHERE).count(), most))
}

fn share_elsewhere(bytes: &BTreeMap<u32, u64>, asked: &[u32]) -> Option<f64> {
    let all: u64 = bytes.values().sum();
    let there: u64 = asked.iter().filter_map(|node| bytes.get(node)).sum();
    (all > 0).then(|| (all - there) as f64 / all as f64)
}

fn node_list(placed: &BoundMemory) -> String {
    cpulist::format(&placed.nodes.iter().map(|n| *n as usize).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(asked: &[u32], bytes: &[&[(u32, u64)]]) -> BoundMemory {
        let bytes_by_node = bytes.iter().map(|l| Ok(l.iter().copied().collect())).collect();
        BoundMemory { what: "a control".to_owned(), nodes: asked.to_vec(), bytes_by_node }
    }

    #[test]
    fn the_share_on_other_nodes() {
        assert_eq!(worst(&placed(&[0], &[&[(0, 75), (1, 25)], &[(0, 100)]])), Some((1, 0.25)));
        assert_eq!(worst(&placed(&[0, 2], &[&[(0, 50), (2, 50)]])), Some((0, 0.0)));
        assert_eq!(worst(&placed(&[1], &[&[(0, 10)]])), Some((1, 1.0)), "none of it there");
        assert_eq!(worst(&placed(&[1], &[&[]])), None, "no memory was seen");
    }
}
