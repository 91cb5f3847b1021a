//! Placement of copies on CPUs and NUMA nodes.

use assay_system::numa::Node;

/// Rule for placing copies on NUMA nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nodes {
    /// No placement: the system decides.
    Any,
    /// Even distribution over the nodes, with neighbouring copies on the same node.
    Each,
    /// An explicit node for each copy.
    These(Vec<usize>),
}

/// The node of a copy, and its CPUs there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeCpus {
    /// NUMA node of the copy's memory.
    pub node: usize,
    /// Share of the trial's CPUs on the node; empty if it has none of them.
    pub cpus: Vec<usize>,
}

/// Reason why copies cannot be placed on NUMA nodes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NodesError {
    #[error("no NUMA node has both memory and CPUs of the trial")]
    NoneUsable,
    #[error("no NUMA node {node} has memory; nodes with memory: {with_memory}")]
    NoMemory { node: usize, with_memory: String },
}

/// Returns the nodes of the copies and divides the `cpus` on each node among its copies; empty for
/// [`Nodes::Any`].
///
/// # Errors
/// Fails if a node does not exist or none is usable.
pub fn on_nodes(
    wanted: &Nodes,
    there: &[Node],
    cpus: &[usize],
    copies: usize,
) -> Result<Vec<NodeCpus>, NodesError> {
    let own = |node: &Node| -> Vec<usize> {
        node.cpus.iter().copied().filter(|c| cpus.contains(c)).collect()
    };
    let of: Vec<&Node> = match wanted {
        Nodes::Any => return Ok(Vec::new()),
        Nodes::Each => {
            let usable: Vec<&Node> =
                there.iter().filter(|n| n.memory && !own(n).is_empty()).collect();
            if usable.is_empty() {
                return Err(NodesError::NoneUsable);
            }
            (0..copies).map(|i| usable[i * usable.len() / copies.max(1)]).collect()
        }
        Nodes::These(list) => {
            let find = |id: &usize| {
                there.iter().find(|n| n.id == *id && n.memory).ok_or_else(|| {
                    let ids: Vec<String> =
                        there.iter().filter(|n| n.memory).map(|n| n.id.to_string()).collect();
                    NodesError::NoMemory { node: *id, with_memory: ids.join(", ") }
                })
            };
            list.iter().map(find).collect::<Result<_, _>>()?
        }
    };
    let mut given: Vec<NodeCpus> =
        of.iter().map(|n| NodeCpus { node: n.id, cpus: Vec::new() }).collect();
    for node in there {
        let mine: Vec<usize> = (0..of.len()).filter(|i| of[*i].id == node.id).collect();
        for (copy, cpus) in mine.iter().zip(places(&own(node), mine.len())) {
            given[*copy].cpus = cpus;
        }
    }
    Ok(given)
}

/// Divides `cpus` among `copies`, with neighbouring CPUs together and sizes that differ by at most
/// one. If there are more copies than CPUs, copies share CPUs in turn. Empty if there are no CPUs.
pub fn places(cpus: &[usize], copies: usize) -> Vec<Vec<usize>> {
    if cpus.is_empty() {
        return Vec::new();
    }
    let of = |i: usize| i * cpus.len() / copies;
    (0..copies)
        .map(|i| {
            if copies > cpus.len() {
                vec![cpus[i % cpus.len()]]
            } else {
                cpus[of(i)..of(i + 1)].to_vec()
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_is_given_once_or_shared_in_turn() {
        assert_eq!(places(&[0, 1, 2, 5], 2), [vec![0, 1], vec![2, 5]]);
        assert_eq!(places(&[0, 1, 2], 2), [vec![0], vec![1, 2]]);
        assert_eq!(places(&[4, 7], 2), [vec![4], vec![7]]);
        assert_eq!(places(&[4, 7], 3), [vec![4], vec![7], vec![4]]);
        assert_eq!(places(&[1, 3], 1), [vec![1, 3]]);
        assert!(places(&[], 3).is_empty() && places(&[1], 0).is_empty());
    }

    fn machine() -> Vec<Node> {
        let node = |id, cpus: &[usize], memory| Node { id, cpus: cpus.to_vec(), memory };
        vec![node(0, &[0, 1, 2, 3], true), node(1, &[4, 5, 6, 7], true), node(2, &[], true)]
    }

    fn given(
        wanted: &Nodes,
        cpus: &[usize],
        copies: usize,
    ) -> Result<Vec<(usize, Vec<usize>)>, NodesError> {
        let all = on_nodes(wanted, &machine(), cpus, copies)?;
        Ok(all.into_iter().map(|n| (n.node, n.cpus)).collect())
    }

    #[test]
    fn copies_are_dealt_over_the_nodes_that_have_cpus_and_memory() {
        let all: Vec<usize> = (0..8).collect();
        let two = given(&Nodes::Each, &all, 2).unwrap();
        assert_eq!(two, [(0, vec![0, 1, 2, 3]), (1, vec![4, 5, 6, 7])]);
        let four = given(&Nodes::Each, &all, 4).unwrap();
        assert_eq!(four, [(0, vec![0, 1]), (0, vec![2, 3]), (1, vec![4, 5]), (1, vec![6, 7])]);
        let three = given(&Nodes::Each, &[0, 1, 4], 3).unwrap();
        assert_eq!(three, [(0, vec![0]), (0, vec![1]), (1, vec![4])]);
        assert_eq!(given(&Nodes::Each, &[5, 6], 1).unwrap(), [(1, vec![5, 6])]);
        assert_eq!(given(&Nodes::Any, &all, 2).unwrap(), []);
        assert_eq!(given(&Nodes::Each, &[99], 2), Err(NodesError::NoneUsable));
    }

    #[test]
    fn nodes_by_number() {
        let remote = given(&Nodes::These(vec![2, 0]), &[0, 1], 2).unwrap();
        assert_eq!(remote, [(2, vec![]), (0, vec![0, 1])]);
        let error = given(&Nodes::These(vec![3]), &[0], 1).unwrap_err().to_string();
        assert_eq!(error, "no NUMA node 3 has memory; nodes with memory: 0, 1, 2");
    }
}
