//! NUMA nodes: their CPUs, whether they have memory, and how the memory of a process or control
//! group is distributed over them.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use assay_model::NodeBytes;
use assay_model::environment::cpulist;

use crate::read::root::{Root, Unreadable};

const NODE: &str = "/sys/devices/system/node";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Number of the node.
    pub id: usize,
    /// CPUs of the node; empty for a node with only memory.
    pub cpus: Vec<usize>,
    /// True if the node has memory.
    pub memory: bool,
}

/// Returns the nodes that are online.
///
/// # Errors
/// If the kernel does not list them because it is built without NUMA.
pub fn nodes(root: &Root) -> Result<Vec<Node>, Unreadable> {
    let list = |file: &str| {
        let text = root.text(&format!("{NODE}/{file}"))?;
        // The file is empty for a node without CPUs.
        Ok(cpulist::parse(&text).unwrap_or_default())
    };
    let with_memory = list("has_memory")?;
    list("online")?
        .into_iter()
        .map(|id| {
            let cpus = list(&format!("node{id}/cpulist"))?;
            Ok(Node { id, cpus, memory: with_memory.contains(&id) })
        })
        .collect()
}

/// Number of bytes by node.
pub(crate) type BytesByNode = BTreeMap<u32, u64>;

/// Converts the bytes by node to the form in records.
pub(crate) fn recorded(by_node: &BytesByNode) -> Vec<NodeBytes> {
    by_node.iter().map(|(node, bytes)| NodeBytes { node: *node, bytes: *bytes }).collect()
}

/// Memory of processes by node: their own memory (anonymous pages and explicit huge pages), and
/// memory that they share with each other, counted once.
#[derive(Debug, Default)]
pub(crate) struct Maps {
    own: BytesByNode,
    /// Shared memory by name and address of the mapping, because processes forked from the same one
    /// share it at the same address.
    shared: BTreeMap<String, BytesByNode>,
}

impl Maps {
    /// Adds the content of `/proc/PID/numa_maps`.
    pub fn add(&mut self, numa_maps: &str) {
        for line in numa_maps.lines() {
            let mut words = line.split_ascii_whitespace();
            let address = words.next().unwrap_or_default();
            let (mut file, mut huge, mut kib) = (None, false, 4);
            let mut pages: Vec<(u32, u64)> = Vec::new();
            for word in words {
                match word.split_once('=') {
                    Some(("file", name)) => file = Some(name),
                    Some(("kernelpagesize_kB", size)) => kib = size.parse().unwrap_or(4),
                    Some((node, n)) => pages.extend(
                        node.strip_prefix('N').and_then(|d| d.parse().ok()).zip(n.parse().ok()),
                    ),
                    None => huge |= word == "huge",
                }
            }
            let into = match file {
                None => &mut self.own,
                Some(_) if huge => &mut self.own,
                Some(name) if is_memory(name) => {
                    self.shared.entry(format!("{name} {address}")).or_default()
                }
                // Cached pages of files lie on the node where they were first read.
                Some(_) => continue,
            };
            let shared = file.is_some() && !huge;
            for (node, count) in pages {
                let (bytes, held) = (count * kib * 1024, into.entry(node).or_default());
                *held = if shared { bytes.max(*held) } else { *held + bytes };
            }
        }
    }

    /// Returns own and shared memory together.
    pub fn by_node(mut self) -> BytesByNode {
        for (node, bytes) in self.shared.into_values().flatten() {
            *self.own.entry(node).or_default() += bytes;
        }
        self.own
    }
}

/// True if a mapping with this name is memory and not a file of a file system.
fn is_memory(name: &str) -> bool {
    ["/dev/zero", "/dev/shm/", "/memfd:", "/SYSV", "/anon_hugepage"]
        .iter()
        .any(|known| name.starts_with(known))
}

/// Returns the memory of a process by node.
///
/// # Errors
/// If the process has exited or belongs to another user, or if the kernel does not provide it.
pub fn of_process(root: &Root, pid: u32) -> io::Result<Vec<NodeBytes>> {
    let mut maps = Maps::default();
    maps.add(&numa_maps(root, pid)?);
    Ok(recorded(&maps.by_node()))
}

pub(crate) fn numa_maps(root: &Root, pid: u32) -> io::Result<String> {
    std::fs::read_to_string(root.path(&format!("/proc/{pid}/numa_maps")))
}

/// Returns the anonymous and shared memory of a version 2 control group by node; `None` if the
/// kernel does not provide it.
pub(crate) fn of_group(folder: &Path) -> Option<BytesByNode> {
    let text = std::fs::read_to_string(folder.join("memory.numa_stat")).ok()?;
    let mut found = BytesByNode::new();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        if !matches!(words.next(), Some("anon" | "shmem")) {
            continue;
        }
        for (node, bytes) in words.filter_map(|w| w.strip_prefix('N')?.split_once('=')) {
            if let (Ok(node), Ok(bytes)) = (node.parse::<u32>(), bytes.parse::<u64>()) {
                *found.entry(node).or_default() += bytes;
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    const MAPS: &str = "55a0 default file=/usr/bin/perl mapped=3 N0=3 kernelpagesize_kB=4
55b0 bind:1 heap anon=10 dirty=10 N0=2 N1=8 kernelpagesize_kB=4
7f00 bind:1 file=/anon_hugepage\\040(deleted) huge anon=2 dirty=2 N1=2 kernelpagesize_kB=2048
7f40 default file=/dev/zero\\040(deleted) dirty=5 N0=5 kernelpagesize_kB=4
7ffd default stack anon=1 dirty=1 N1=1 kernelpagesize_kB=4
7fff default
";

    #[test]
    fn own_memory_adds_up_and_shared_memory_counts_once() {
        let mut maps = Maps::default();
        maps.add(MAPS);
        maps.add("7f40 default file=/dev/zero\\040(deleted) dirty=3 N0=3 kernelpagesize_kB=4\n");
        maps.add("nonsense N=1 Nx=2 N0=y\n\n");
        let kib = |k: u64| k << 10;
        let wanted = BytesByNode::from([(0, kib(4 * 2 + 4 * 5)), (1, kib(4 * 8 + 2 * 2048 + 4))]);
        assert_eq!(maps.by_node(), wanted);
    }

    #[test]
    fn a_group_tells_by_node() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(of_group(dir.path()), None);
        let text = "anon N0=4096 N1=8192\nfile N0=999 N1=0\nshmem N0=0 N1=100\n";
        std::fs::write(dir.path().join("memory.numa_stat"), text).unwrap();
        assert_eq!(of_group(dir.path()), Some(BytesByNode::from([(0, 4096), (1, 8292)])));
    }

    #[test]
    fn nodes_with_and_without_cpus_or_memory() {
        let m = FakeMachine::new();
        assert!(nodes(&m.root()).is_err());
        m.put("/sys/devices/system/node/online", "0-2\n");
        m.put("/sys/devices/system/node/has_memory", "0,2\n");
        for (id, cpus) in [(0, "0-1\n"), (1, "2\n"), (2, "\n")] {
            m.put(&format!("/sys/devices/system/node/node{id}/cpulist"), cpus);
        }
        let found = nodes(&m.root()).unwrap();
        assert_eq!(found[0], Node { id: 0, cpus: vec![0, 1], memory: true });
        assert_eq!(found[1], Node { id: 1, cpus: vec![2], memory: false });
        assert_eq!(found[2], Node { id: 2, cpus: vec![], memory: true });
    }
}
