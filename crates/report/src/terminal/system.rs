//! The system under test in short.

use assay_model::SystemDescription;

use super::Style;
use super::writer::{Paint, Writer};
use crate::figures::count;

/// The facts that people ask for first: what they are called, and their path.
pub(crate) const KEY_FACTS: [(&str, &str); 22] = [
    ("processor", "cpu.model"),
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
    ("NUMA nodes", "numa.nodes"),
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

/// The key facts, those that could not be read with the reason, and how many more are recorded.
pub fn system(system: &SystemDescription, style: Style) -> String {
    let mut w = Writer::new(style);
    w.heading(&match system.taken_at.as_str() {
        "" => "system, as far as the imported file tells".to_owned(),
        at => format!("system at {at}"),
    });
    let pairs: Vec<(&str, String)> = KEY_FACTS
        .iter()
        .filter_map(|(name, path)| Some((*name, fact_text(system.facts.get(*path)?))))
        .collect();
    w.pairs(&pairs);
    let unknown = system.facts.values().filter(|f| f.value().is_none()).count();
    w.wrapped(
        2,
        &format!("{} recorded, {unknown} of them unknown", count(system.facts.len(), "fact")),
        Paint::Soft,
    );
    w.finish()
}

/// A fact's value, or that it is unknown and why.
pub(crate) fn fact_text(fact: &assay_model::Fact) -> String {
    match fact {
        assay_model::Fact::Known { value } => value.clone(),
        assay_model::Fact::Unknown { unknown } => format!("unknown: {unknown}"),
    }
}
