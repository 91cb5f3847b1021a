//! Samples on which NUMA nodes the memory of a trial's program lies while it runs. Does nothing on
//! a machine with one node.

use std::path::PathBuf;
use std::sync::OnceLock;

use assay_checks::record_observation;
use assay_model::{Better, MetricKind, MetricValue, Observation, TrialRecord};

use crate::process::hooks::ObserverHook;
use crate::process::observation_points;
use crate::process::setup::ProcessSetup;
use crate::read::numa::{self, BytesByNode, Maps};
use crate::read::root::Root;

/// Metric: share of the program's memory on the node that had most of it.
const METRIC: &str = "one_node_share";
const NUMA_MAPS: &str = "numa_maps";
const NUMA_STAT: &str = "memory.numa_stat";

/// Returns the function that takes the samples, for [`crate::beside`]; `None` if only one node has
/// memory or the kernel is built without NUMA.
pub fn node_memory(root: &Root, setup: &ProcessSetup) -> Option<ObserverHook> {
    // Determined once per machine, so that a trial of a millisecond does not pay for it.
    static SEVERAL: OnceLock<bool> = OnceLock::new();
    let many =
        if root.is_system() { *SEVERAL.get_or_init(|| several(root)) } else { several(root) };
    if !many {
        return None;
    }
    // Reading the group's counters costs the program nothing, but they do not count explicit huge
    // pages.
    let counted = |group: &&PathBuf| numa::of_group(group).is_some();
    let group = setup.groups.iter().find(counted).filter(|_| setup.pages.is_none()).cloned();
    let root = root.clone();
    Some(Box::new(move |end| {
        let mut seen = NodeMemorySamples::default();
        observation_points::until(end, |pids| seen.look(&root, group.as_ref(), pids));
        Box::new(move |record| seen.conclude(record))
    }))
}

/// True if several nodes have memory.
fn several(root: &Root) -> bool {
    numa::nodes(root).is_ok_and(|nodes| nodes.iter().filter(|n| n.memory).count() > 1)
}

/// The samples taken so far.
#[derive(Debug, Default)]
struct NodeMemorySamples {
    /// The sample with the most memory.
    most: BytesByNode,
    source: &'static str,
    /// Error of a sample that was refused.
    refused: Option<String>,
}

impl NodeMemorySamples {
    fn look(&mut self, root: &Root, group: Option<&PathBuf>, pids: &[u32]) {
        let (now, source) = match group.and_then(|g| numa::of_group(g)) {
            Some(text) => (text, NUMA_STAT),
            None => (self.maps(root, pids), NUMA_MAPS),
        };
        let bytes = |of: &BytesByNode| of.values().sum::<u64>();
        if bytes(&now) > bytes(&self.most) {
            (self.most, self.source) = (now, source);
        }
    }

    fn maps(&mut self, root: &Root, pids: &[u32]) -> BytesByNode {
        let mut maps = Maps::default();
        for pid in pids {
            match numa::numa_maps(root, *pid) {
                Ok(text) => maps.add(&text),
                // A process that has just exited has no maps, which is not a refusal.
                Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
                    self.refused = Some(format!("read /proc/{pid}/numa_maps: {e}"));
                }
                Err(_) => {}
            }
        }
        maps.by_node()
    }

    fn conclude(self, record: &mut TrialRecord) {
        let all: u64 = self.most.values().sum();
        let unseen = match self.refused {
            // A part of the memory must not be reported as all of it.
            Some(why) => why,
            None if all == 0 => "the program ended before its memory was sampled".to_owned(),
            None => String::new(),
        };
        let known = unseen.is_empty();
        let mut put = |name: &str, value: Option<f64>, unit: &str| {
            let value = value.filter(|_| known);
            let metric = MetricValue::new(name, value, unit, Better::Neither, MetricKind::Measured);
            record.metrics.push(metric.counted());
        };
        let largest = self.most.values().max().map(|most| *most as f64 / all.max(1) as f64);
        put(METRIC, largest, "1");
        for (node, bytes) in self.most.iter().filter(|_| known) {
            put(&format!("node{node}_memory"), Some(*bytes as f64), "B");
        }
        let nodes = if known { numa::recorded(&self.most) } else { Vec::new() };
        let source = if known { self.source.to_owned() } else { String::new() };
        let (of, asked) = (String::new(), Vec::new());
        record_observation(record, Observation::NodeMemory { of, asked, nodes, source, unseen });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;
    use assay_model::PlannedTrial;

    fn two_nodes() -> FakeMachine {
        let m = FakeMachine::new();
        m.put("/sys/devices/system/node/online", "0-1\n");
        m.put("/sys/devices/system/node/has_memory", "0-1\n");
        m.put("/sys/devices/system/node/node0/cpulist", "0\n");
        m.put("/sys/devices/system/node/node1/cpulist", "1\n");
        m
    }

    fn record() -> TrialRecord {
        TrialRecord::blank(&PlannedTrial::default(), 1, String::new(), 0)
    }

    #[test]
    fn one_node_needs_no_look() {
        let m = two_nodes();
        assert!(node_memory(&m.root(), &ProcessSetup::default()).is_some());
        m.put("/sys/devices/system/node/has_memory", "0\n");
        assert!(node_memory(&m.root(), &ProcessSetup::default()).is_none());
        assert!(node_memory(&FakeMachine::new().root(), &ProcessSetup::default()).is_none());
    }

    #[test]
    fn the_look_with_most_memory_counts() {
        let m = two_nodes();
        let mut seen = NodeMemorySamples::default();
        for (n0, n1) in [(10, 30), (1, 2)] {
            let line = format!("55b0 default heap anon=9 N0={n0} N1={n1} kernelpagesize_kB=4\n");
            m.put("/proc/7/numa_maps", &line);
            seen.look(&m.root(), None, &[7, 8]);
        }
        let mut record = record();
        seen.conclude(&mut record);
        assert_eq!(record.metric("node0_memory"), Some(40_960.0));
        assert_eq!(
            (record.metric("node1_memory"), record.metric(METRIC)),
            (Some(122_880.0), Some(0.75))
        );
        assert!(matches!(&record.evidence[0], Observation::NodeMemory { source, .. }
                if source == NUMA_MAPS));
    }

    #[test]
    fn a_group_tells_without_walking_the_memory() {
        let (m, group) = (two_nodes(), tempfile::tempdir().unwrap());
        std::fs::write(group.path().join("memory.numa_stat"), "anon N0=0 N1=4096\n").unwrap();
        let mut seen = NodeMemorySamples::default();
        seen.look(&m.root(), Some(&group.path().to_owned()), &[7]);
        assert_eq!((seen.most[&1], seen.source), (4096, NUMA_STAT));
    }

    #[test]
    fn what_was_not_seen_is_unknown() {
        let mut record = record();
        NodeMemorySamples::default().conclude(&mut record);
        assert_eq!((record.metrics.len(), record.metric(METRIC)), (1, None));
        let Observation::NodeMemory { nodes, unseen, .. } = &record.evidence[0] else { panic!() };
        assert!(nodes.is_empty() && unseen.contains("ended before"));
    }
}
