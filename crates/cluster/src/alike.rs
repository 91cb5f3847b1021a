//! The nodes as one system: what they share, what differs from node to node, and whether they are alike.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::{Fact, Finding, Severity, SystemDescription};
use assay_sut::{DifferenceClass, FactDiff, diff};

/// The nodes' descriptions as one.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// What all have in common under its own path; the rest of the first node too, and of each node that
    /// differs from it under `node.NAME.`.
    pub system: SystemDescription,
    /// What speaks against taking them for alike.
    pub findings: Vec<Finding>,
}

/// Lays descriptions together, each with its node's name. `cluster` are facts about the job.
pub fn describe(nodes: &[(String, SystemDescription)], cluster: &[(&str, String)]) -> Described {
    let nodes: Vec<(&String, SystemDescription)> =
        nodes.iter().map(|(name, system)| (name, without_job(system))).collect();
    let Some((first, base)) = nodes.first() else {
        return Described { system: SystemDescription::default(), findings: Vec::new() };
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
            // Every node has a name of its own.
            let own = d.path == "host.name";
            if !own && matches!(d.class, DifferenceClass::Hard | DifferenceClass::Soft) {
                differ.entry(d.path.clone()).or_insert_with(|| (d, Vec::new())).1.push(name);
            }
        }
    }
    for (path, value) in cluster {
        system.facts.insert(format!("cluster.{path}"), Fact::known(value.clone()));
    }
    let names: Vec<&str> = nodes.iter().map(|(n, _)| n.as_str()).collect();
    system.facts.insert("cluster.node_names".into(), Fact::known(names.join(" ")));
    let mut findings = Vec::new();
    for (class, severity) in
        [(DifferenceClass::Hard, Severity::Warning), (DifferenceClass::Soft, Severity::Note)]
    {
        let of: Vec<&(FactDiff, Vec<&str>)> =
            differ.values().filter(|(d, _)| d.class == class).collect();
        if of.is_empty() {
            continue;
        }
        let word = |f: &Option<Fact>| {
            let value = f.as_ref().and_then(Fact::value).unwrap_or("unknown");
            value.chars().take(40).collect::<String>()
        };
        let shown: Vec<String> = of
            .iter()
            .take(4)
            .map(|(d, on)| {
                let others = on.iter().take(4).copied().collect::<Vec<_>>().join(", ");
                let more = if on.len() > 4 { ", ..." } else { "" };
                format!("{} ({first}: {}; {others}{more}: {})", d.path, word(&d.a), word(&d.b))
            })
            .collect();
        let more = of.len().saturating_sub(4);
        let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
        findings.push(Finding {
            id: "N1".into(),
            name: "nodes-alike".into(),
            severity,
            message: format!("the nodes are not alike: {}{rest}", shown.join(", ")),
            remedy: "choose nodes of one kind (`where.constraint`); the description has every difference \
                     under `node.`"
                .into(),
            treatments: Vec::new(),
        });
    }
    Described { system, findings }
}

/// A description without what the scheduler tells every task of itself, and without the agent's token.
fn without_job(system: &SystemDescription) -> SystemDescription {
    let own = ["env.SLURM", "env.SRUN_", "env.ASSAY_AGENT_"];
    let mut system = system.clone();
    system.facts.retain(|path, _| !own.iter().any(|o| path.starts_with(o)));
    system
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(same.findings.is_empty(), "{:?}", same.findings);
        assert_eq!(same.system.text("cluster.job"), "7");
        let other = describe(&[named("n1", "a"), named("n2", "a"), named("n3", "b")], &[]);
        assert_eq!(other.findings[0].severity, Severity::Warning);
        assert!(
            other.findings[0].message.contains("cpu.model (n1: a; n3: b)"),
            "{:?}",
            other.findings
        );
        assert_eq!(other.system.text("node.n3.cpu.model"), "b");
        assert!(!other.system.facts.contains_key("node.n2.cpu.model"));
        assert!(describe(&[], &[]).findings.is_empty());
        let mut task = named("n2", "a");
        task.1.facts.insert("env.SLURM_PROCID".into(), Fact::known("1"));
        task.1.facts.insert("env.ASSAY_AGENT_TOKEN".into(), Fact::known("secret"));
        let same = describe(&[task, named("n3", "a")], &[]);
        assert!(
            same.findings.is_empty() && !same.system.facts.keys().any(|p| p.starts_with("env."))
        );
    }
}
