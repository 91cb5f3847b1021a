//! The description of the system of an imported run: what the file states, and of what matters most
//! and is not stated, that it is unknown and why.

use std::collections::BTreeMap;

use assay_model::{Fact, SCHEMA_VERSION, SystemDescription};

use super::result::ForeignResult;

/// What a reader asks for first; each is there, if only as unknown.
const ASKED: [&str; 9] = [
    "cpu.cores",
    "cpu.model",
    "cpu.threads",
    "host.name",
    "kernel.release",
    "libc.version",
    "memory.total",
    "os.name",
    "virt.hypervisor",
];

/// Describes the system by what the file says.
pub(super) fn describe(result: &ForeignResult) -> SystemDescription {
    let mut facts: BTreeMap<String, Fact> = result.facts.clone();
    if let Some(host) = &result.host {
        facts.insert("host.name".to_owned(), Fact::known(host));
    }
    for path in ASKED {
        let reason = || Fact::unknown(format!("the file of {} does not state it", result.tool));
        facts.entry(path.to_owned()).or_insert_with(reason);
    }
    SystemDescription {
        schema_version: SCHEMA_VERSION,
        taken_at: result.measured_at.clone().unwrap_or_default(),
        facts,
    }
}
