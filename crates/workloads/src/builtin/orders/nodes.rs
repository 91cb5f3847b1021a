//! NUMA placement of the instances: assigning nodes, and the actual location of memory at the end
//! of the last point.

use assay_model::Observation;
use assay_system::{Root, numa};

use crate::Failure;
use crate::driver::copies::{NodeCpus, Nodes, StartedCopy, on_nodes};
use crate::driver::work::Channel;
use crate::failure::Result;

/// Returns the node of each instance; empty if none is assigned.
pub(super) fn assign(wanted: &Nodes, cpus: &[usize], instances: usize) -> Result<Vec<NodeCpus>> {
    if *wanted == Nodes::Any {
        return Ok(Vec::new());
    }
    let there = numa::nodes(&Root::system()).map_err(|e| {
        Failure::other(format!("`nodes` cannot be set: this kernel lists no NUMA nodes ({e})"))
    })?;
    on_nodes(wanted, &there, cpus, instances)
        .map_err(|e| Failure::other(format!("`nodes` cannot be set: {e}")))
}

/// Returns the CPUs of each instance from its node, for `cpus = "auto"`.
pub(super) fn cpus(on: &[NodeCpus]) -> Result<Vec<Option<Vec<usize>>>> {
    let own = |on: &NodeCpus| {
        if on.cpus.is_empty() {
            return Err(Failure::other(format!(
                "node {} has none of the trial's CPUs; name the CPUs of its instance with `cpus`",
                on.node
            )));
        }
        Ok(Some(on.cpus.clone()))
    };
    on.iter().map(own).collect()
}

/// Reports the current location of the memory of instances that are assigned to a node.
pub(super) fn report_locations(members: &[StartedCopy], channel: &mut Channel) {
    for (i, member) in members.iter().enumerate() {
        let Some(node) = member.copy.node.and_then(|n| u32::try_from(n).ok()) else { continue };
        let (nodes, unseen) = match numa::of_process(&Root::system(), member.pid()) {
            Ok(nodes) => (nodes, String::new()),
            Err(e) => (Vec::new(), format!("read its numa_maps: {e}")),
        };
        let source = if unseen.is_empty() { "numa_maps".to_owned() } else { String::new() };
        let (of, asked) = (format!("instance {}", i + 1), vec![node]);
        channel.evidence(Observation::NodeMemory { of, asked, nodes, source, unseen });
    }
}
