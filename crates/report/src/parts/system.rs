//! The system under test and its settings.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::environment::cpu_limits;
use assay_model::{Fact, SystemDescription, Treatment};

use crate::document::table::TableRow;
use crate::document::{
    DocumentPart, Outputs, Parts, Table, TableCell, Text, TextStyle, Tone, cell,
};
use crate::figures::count;
use crate::view::RunView;

/// Facts that readers ask for first: the name of each and its path.
const KEY_FACTS: [(&str, &str); 25] = [
    ("processor", "cpu.model"),
    ("clusters", "cpu.clusters"),
    ("instruction set", "kernel.arch"),
    ("sockets", "cpu.sockets"),
    ("cores", "cpu.cores"),
    ("threads", "cpu.threads"),
    ("SMT", "cpu.smt"),
    ("frequency governor", "cpu.governor"),
    ("turbo", "cpu.turbo"),
    ("L1 data cache", "cpu.cache.l1d.size"),
    ("L2 cache", "cpu.cache.l2.size"),
    ("L3 cache", "cpu.cache.l3.size"),
    ("memory", "memory.total"),
    ("page size", "memory.page_size"),
    ("NUMA nodes", NODES),
    ("firmware", "dmi.bios_version"),
    ("machine", "dmi.product_name"),
    ("virtual machine", "virt.hypervisor"),
    ("container", "virt.container"),
    ("operating system", "os.name"),
    ("kernel", "kernel.release"),
    ("kernel command line", "kernel.cmdline"),
    ("clock source", "kernel.clocksource"),
    ("transparent huge pages", "thp.enabled"),
    ("C library", "libc.version"),
];

/// Returns the key facts that are recorded: name, path, value.
pub fn key_facts(system: &SystemDescription) -> Vec<(String, String, String)> {
    let mut all = Vec::with_capacity(KEY_FACTS.len());
    for (name, path) in KEY_FACTS {
        let Some(fact) = system.facts.get(path) else { continue };
        let limits = if path == "cpu.threads" { cpu_limits(system) } else { String::new() };
        all.push((name.to_owned(), path.to_owned(), fact_text(fact) + &limits));
        if path == NODES {
            all.extend(nodes(system));
        }
    }
    all
}

const NODES: &str = "numa.nodes";

/// Facts that a comparison of hosts names if they differ, besides the toolchain.
const HOST_FACTS: [&str; 6] =
    ["cpu.model", "kernel.arch", "memory.page_size", "kernel.release", "os.name", "libc.version"];

/// Returns a sentence for each host that is compared with the first one and is another system.
pub(crate) fn unlike_hosts(view: &RunView) -> Vec<String> {
    let system = &view.system;
    let mut hosts = system.get("cluster.node_names").unwrap_or_default().split(' ');
    let first = hosts.next().filter(|_| view.plan.factors.iter().any(|f| f == "host"));
    let Some(first) = first else { return Vec::new() };
    let sentence = |host: &str| {
        let prefix = format!("node.{host}.");
        let value = |(name, path): &(&str, &str)| {
            let there = system.facts.get(&format!("{prefix}{path}"))?;
            let there = there.value().unwrap_or("unknown");
            Some(format!("{name} ({}; {there})", system.text(path)))
        };
        let key = KEY_FACTS.iter().filter(|(_, path)| HOST_FACTS.contains(path));
        let mut differ: Vec<String> = key.filter_map(value).collect();
        let tools = system.facts.keys().filter_map(|path| {
            path.strip_prefix(&prefix)?.strip_prefix("toolchain.")?.split('.').next()
        });
        let tools: Vec<&str> = tools.collect::<BTreeSet<_>>().into_iter().collect();
        differ.extend((!tools.is_empty()).then(|| format!("toolchain ({})", tools.join(", "))));
        let all = differ.join(", ");
        let words = "compared as whole systems: ";
        (!differ.is_empty()).then(|| format!("{words}{host} differs from {first} in {all}"))
    };
    hosts.filter_map(sentence).collect()
}

/// Returns the CPUs, the memory and the distances of each NUMA node, if there are several.
fn nodes(system: &SystemDescription) -> Vec<(String, String, String)> {
    let count: u32 = system.get(NODES).and_then(|n| n.parse().ok()).unwrap_or(0);
    let id = |path: &str| -> Option<u32> {
        path.strip_prefix("numa.node")?.strip_suffix(".cpus")?.parse().ok()
    };
    let mut ids: Vec<u32> = system.facts.keys().filter_map(|path| id(path)).collect();
    ids.sort_unstable();
    let fact = |n: u32, what: &str| {
        let fact = system.facts.get(&format!("numa.node{n}.{what}"));
        fact.map_or_else(|| "unknown".to_owned(), fact_text)
    };
    let row = |n: u32| {
        let cpus = fact(n, "cpus");
        let cpus = if cpus.is_empty() { "none".to_owned() } else { cpus };
        let value =
            format!("CPUs {cpus}, memory {}, distances {}", fact(n, "memory"), fact(n, "distance"));
        (format!("NUMA node {n}"), format!("numa.node{n}.cpus"), value)
    };
    if count > 1 { ids.into_iter().map(row).collect() } else { Vec::new() }
}

/// Returns the number of facts, and how many of them are unknown.
pub fn counted(system: &SystemDescription) -> String {
    let unknown = system.facts.values().filter(|f| f.value().is_none()).count();
    format!("{} recorded, {unknown} of them unknown", count(system.facts.len(), "fact"))
}

/// Returns a heading with the time of the description.
pub fn described(system: &SystemDescription) -> String {
    match system.taken_at.as_str() {
        "" => "System, as far as the imported file states it".to_owned(),
        at => format!("System at {at}"),
    }
}

/// Returns a fact's value, or the reason why it is unknown.
fn fact_text(fact: &Fact) -> String {
    match fact {
        Fact::Known { value } => value.clone(),
        Fact::Unknown { unknown } => format!("unknown: {unknown}"),
    }
}

/// Returns the system, the treatments, the fixed parameters, and the facts that changed during the
/// run.
pub fn configuration(view: &RunView) -> Parts {
    let mut out = Parts::default();
    let system = &view.system;
    if system.facts.is_empty() {
        out.say("The run has no description of the system.");
    } else {
        out.say(format!("{}.", described(system)));
        let mut key =
            Table::captioned("Key facts of the system under test").label("fact").label("value");
        for (name, path, value) in key_facts(system) {
            let name = TableCell { title: Some(path), ..cell(name) };
            key.row(vec![name, valued(value)]);
        }
        out.table(key);
        let named = |(path, fact)| (path, fact_text(fact));
        let all = system.facts.iter().map(named);
        fold(&mut out, &format!("All facts: {}", counted(system)), "Every recorded fact", all);
    }
    settings(view, &mut out);
    let changed: Vec<Text> = view
        .records
        .iter()
        .flat_map(|r| r.changed.iter().map(move |(path, now)| (r.number, path, now)))
        .map(|(n, path, now)| {
            Text::default()
                .link(format!("#trial-{n}"), format!("trial {n}"))
                .plain(": ")
                .code(path.clone())
                .plain(format!(" was {}, is {now}", system.text(path)))
        })
        .collect();
    if !changed.is_empty() {
        out.heading("", "Changed during the run");
        out.push(DocumentPart::List(Tone::Plain, changed));
    }
    out
}

fn valued(value: String) -> TableCell {
    let look = if value.starts_with("unknown: ") { "text unknown" } else { "text" };
    cell(Text::default().piece(TextStyle::Unknown(look), value))
}

/// Adds a table of names and values that a page folds away and Markdown leaves out.
fn fold<'a>(
    out: &mut Parts,
    summary: &str,
    caption: &str,
    all: impl Iterator<Item = (&'a String, String)>,
) {
    let mut table = Table::captioned(caption).label("name").label("value");
    all.for_each(|(name, value)| {
        table.row(vec![cell(Text::default().code(name.clone())), valued(value)]);
    });
    let mut parts = Parts::default();
    parts.table(table);
    out.on(
        Outputs::Page,
        DocumentPart::Details { summary: summary.to_owned(), open: false, parts },
    );
}

/// Adds parameters and controls: the levels of each treatment, and the values that are the same in
/// every trial.
fn settings(view: &RunView, out: &mut Parts) {
    let plan = &view.plan;
    let mut table = Table::captioned("Treatments and their levels")
        .number("id")
        .labels(plan.factors.iter().map(String::as_str))
        .word("role");
    for t in &plan.treatments {
        let baseline = t.id == plan.baseline && plan.treatments.len() > 1;
        let level = |f| t.levels.get(f).map_or_else(String::new, assay_model::Scalar::to_text);
        let levels = plan.factors.iter().map(|f| cell(level(f)));
        let last = cell(if baseline { "baseline" } else { "" });
        let cells = std::iter::once(cell(t.id.to_string())).chain(levels).chain([last]).collect();
        table.rows.push(TableRow {
            id: format!("treatment-{}", t.id),
            cells,
            ..TableRow::default()
        });
    }
    if !plan.factors.is_empty() {
        out.heading("", "Treatments");
        out.table(table);
    }
    let all: Vec<BTreeMap<String, String>> = plan.treatments.iter().map(set).collect();
    let Some(first) = all.first() else { return };
    let mut fixed = first
        .iter()
        .filter(|(k, v)| all.iter().all(|m| m.get(*k) == Some(v)) && !plan.factors.contains(k))
        .map(|(k, v)| (k, v.clone()))
        .peekable();
    if fixed.peek().is_some() {
        fold(out, "Fixed parameters and settings", "What was the same in every trial", fixed);
    }
}

fn set(t: &Treatment) -> BTreeMap<String, String> {
    let controls = t.controls.iter().map(|c| {
        let dot = if c.key.is_empty() { "" } else { "." };
        (format!("controls.{}{dot}{}", c.control, c.key), c.value.to_text())
    });
    t.params.iter().map(|(k, v)| (k.clone(), v.to_text())).chain(controls).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{html, markdown};
    use crate::fixtures;

    #[test]
    fn a_fact_reads_the_same_in_every_output() {
        let view = fixtures::commands();
        let parts = configuration(&view);
        let (page, text) = (html::parts(&parts).into_string(), markdown::parts(&parts));
        let mut shown = 0;
        for (name, _, value) in key_facts(&view.system) {
            let plain = !value.contains(['&', '<', '_', '"', '[']);
            shown += usize::from(plain);
            assert!(page.contains(&name) && text.contains(&name), "{name}");
            assert!(!plain || (page.contains(&value) && text.contains(&value)), "{value}");
        }
        assert!(shown > 0 && !markdown::parts(&parts).contains("Every recorded fact"));
    }

    #[test]
    fn hosts_of_two_instruction_sets_are_compared_as_whole_systems() {
        let mut view = fixtures::commands();
        view.system = SystemDescription::default();
        view.plan.factors = vec!["host".to_owned()];
        for (path, value) in [
            ("cluster.node_names", "a b.example c"),
            ("kernel.arch", "x86_64"),
            ("node.b.example.kernel.arch", "aarch64"),
            ("node.b.example.memory.dimms", "4"),
            ("memory.page_size", "4 KiB"),
            ("node.b.example.memory.page_size", "16 KiB"),
            ("node.b.example.toolchain.gcc.version", "gcc 12"),
            ("node.b.example.toolchain.gcc.path", "/usr/bin/gcc-12"),
        ] {
            view.system.facts.insert(path.to_owned(), Fact::known(value));
        }
        assert_eq!(
            unlike_hosts(&view),
            ["compared as whole systems: b.example differs from a in instruction set (x86_64; \
              aarch64), page size (4 KiB; 16 KiB), toolchain (gcc)"]
        );
        view.plan.factors.clear();
        assert!(unlike_hosts(&view).is_empty(), "the hosts are not compared");
    }

    #[test]
    fn several_nodes_are_shown_with_what_they_have() {
        let mut system = SystemDescription::default();
        let mut put = |path: &str, value: &str| {
            system.facts.insert(path.to_owned(), Fact::known(value));
        };
        put("numa.nodes", "2");
        put("numa.node0.cpus", "0-3");
        put("numa.node0.memory", "1 GiB");
        put("numa.node0.distance", "10 20");
        put("numa.node1.cpus", "");
        let shown: Vec<String> =
            key_facts(&system).into_iter().map(|(name, _, v)| format!("{name}: {v}")).collect();
        assert_eq!(
            shown,
            [
                "NUMA nodes: 2",
                "NUMA node 0: CPUs 0-3, memory 1 GiB, distances 10 20",
                "NUMA node 1: CPUs none, memory unknown, distances unknown",
            ]
        );
        system.facts.insert("numa.nodes".to_owned(), Fact::known("1"));
        assert_eq!(key_facts(&system).len(), 1);
    }
}
