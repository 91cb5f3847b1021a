//! Combines the descriptions of the nodes into one system, and finds differences between them.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::environment::DifferenceClass::{Factor, Hard, Soft};
use assay_model::environment::{FactDiff, diff};
use assay_model::{Fact, NodeDifference, Observation, SystemDescription};

/// Combined description of all nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedDescription {
    /// All facts of the first node under their own paths; for each other node, its differing facts
    /// under `node.NAME.`.
    pub system: SystemDescription,
    /// Differences that speak against treating the nodes as alike.
    pub seen: Vec<Observation>,
}

/// Combines the nodes' descriptions, each with its node's name. `cluster` has facts about the job.
pub fn describe(
    nodes: &[(String, SystemDescription)],
    cluster: &[(&str, String)],
) -> MergedDescription {
    let nodes: Vec<(&String, SystemDescription)> =
        nodes.iter().map(|(name, system)| (name, without_job(system))).collect();
    let Some((first, base)) = nodes.first() else {
        return MergedDescription { system: SystemDescription::default(), seen: Vec::new() };
    };
    let mut system = base.clone();
    let mut differ: BTreeMap<String, (FactDiff, Vec<&str>)> = BTreeMap::new();
    for (name, other) in &nodes[1..] {
        for path in base.facts.keys().chain(other.facts.keys()).collect::<BTreeSet<_>>() {
            let (a, b) = (base.facts.get(path), other.facts.get(path));
            if a != b {
                let fact = b.cloned().unwrap_or_else(|| Fact::unknown("not described there"));
                system.facts.insert(format!("node.{name}.{path}"), fact);
            }
        }
        for d in diff(base, other, &[]).differences {
            // Host names always differ. A factor comes with another instruction set.
            let own = d.path == "host.name";
            if !own && matches!(d.class, Factor | Hard | Soft) {
                differ.entry(d.path.clone()).or_insert_with(|| (d, Vec::new())).1.push(name);
            }
        }
    }
    for (path, value) in cluster {
        system.facts.insert(format!("cluster.{path}"), Fact::known(value.clone()));
    }
    let names: Vec<&str> = nodes.iter().map(|(n, _)| n.as_str()).collect();
    system.facts.insert("cluster.node_names".into(), Fact::known(names.join(" ")));
    let mut seen = Vec::new();
    for hard in [true, false] {
        let word = |f: &Option<Fact>| {
            let value = f.as_ref().and_then(Fact::value).unwrap_or("unknown");
            value.chars().take(40).collect::<String>()
        };
        let differences: Vec<NodeDifference> = differ
            .values()
            .filter(|(d, _)| (d.class != Soft) == hard)
            .map(|(d, on)| NodeDifference {
                path: d.path.clone(),
                first: [(*first).clone(), word(&d.a)],
                others: on.iter().map(|n| (*n).to_owned()).collect(),
                other: word(&d.b),
                hard,
            })
            .collect();
        if !differences.is_empty() {
            seen.push(Observation::UnlikeNodes { differences });
        }
    }
    MergedDescription { system, seen }
}

/// Removes the variables of the scheduler or `ssh`, which differ from task to task, and the
/// agent's token.
fn without_job(system: &SystemDescription) -> SystemDescription {
    let own = ["env.SLURM", "env.SRUN_", "env.SSH_", "env.ASSAY_AGENT_"];
    let mut system = system.clone();
    system.facts.retain(|path, _| !own.iter().any(|o| path.starts_with(o)));
    system
}

#[cfg(test)]
mod tests {
    use assay_model::{Finding, Severity};

    use super::*;

    fn found(described: &MergedDescription) -> Vec<Finding> {
        assay_checks::judge_observations(&described.seen)
    }

    fn system(model: &str, release: &str) -> SystemDescription {
        let fact = |p: &str, v: &str| (p.to_owned(), Fact::known(v));
        SystemDescription {
            schema_version: 1,
            taken_at: String::new(),
            facts: [
                fact("cpu.model", model),
                fact("kernel.release", release),
                fact("os.name", "x"),
            ]
            .into(),
        }
    }

    #[test]
    fn nodes_of_two_kinds_are_found_and_kept() {
        let named = |n: &str, m: &str| (n.to_owned(), system(m, "6.1"));
        let same = describe(&[named("n1", "a"), named("n2", "a")], &[("job", "7".into())]);
        assert!(found(&same).is_empty(), "{:?}", found(&same));
        assert_eq!(same.system.text("cluster.job"), "7");
        let other = describe(&[named("n1", "a"), named("n2", "a"), named("n3", "b")], &[]);
        assert_eq!(found(&other)[0].severity, Severity::Warning);
        assert!(
            found(&other)[0].message.contains("cpu.model (n1: a; n3: b)"),
            "{:?}",
            found(&other)
        );
        assert_eq!(other.system.text("node.n3.cpu.model"), "b");
        assert!(!other.system.facts.contains_key("node.n2.cpu.model"));
        assert!(found(&describe(&[], &[])).is_empty());
        let on = |name: &str, arch: &str| {
            let mut node = named(name, "a");
            node.1.facts.insert("kernel.arch".into(), Fact::known(arch));
            node
        };
        let unlike = found(&describe(&[on("n1", "x86_64"), on("n2", "aarch64")], &[]));
        assert_eq!(unlike[0].severity, Severity::Warning);
        let said = &unlike[0].message;
        assert!(said.contains("kernel.arch (n1: x86_64; n2: aarch64)"), "{said}");
        let mut task = named("n2", "a");
        task.1.facts.insert("env.SLURM_PROCID".into(), Fact::known("1"));
        task.1.facts.insert("env.ASSAY_AGENT_TOKEN".into(), Fact::known("secret"));
        let same = describe(&[task, named("n3", "a")], &[]);
        assert!(
            found(&same).is_empty() && !same.system.facts.keys().any(|p| p.starts_with("env."))
        );
    }
}
