//! Describes the system under test as flat facts: hardware, firmware, kernel, tunables, limits,
//! storage, network and environment. Facts that cannot be read are unknown, with the reason;
//! nothing is guessed, and nothing is changed.

mod arm;
mod block;
mod cgroup;
mod cpu;
mod dmi;
mod environment;
mod facts;
mod identity;
mod kernel;
mod libc_version;
mod load;
mod memory;
mod mounts;
mod network;
mod pages;
mod sysctls;
mod toolchains;
mod virt;
pub(crate) mod watch;

use std::collections::BTreeMap;

use crate::redact::Recorder;
use assay_model::{Fact, SCHEMA_VERSION, SystemDescription};
use facts::Facts;

use crate::Root;

pub use cgroup::{limited_groups, limited_io};
pub use memory::meminfo_bytes;
pub use toolchains::{describe_toolchains, version};
pub use virt::hidden_by_container;

pub(crate) use facts::selected;
pub(crate) use virt::hypervisor;

/// Describes the current system at `root`. Takes about 8 ms on a small machine, and another thread
/// for the tunables. Starts no programs; [`describe_toolchains`] does.
///
/// With a root other than `/`, facts that need system calls or instructions (the processor's report
/// on the hypervisor, the C library) are unknown, and so are facts whose files do not exist. Values
/// that `recorder` does not let through (of variables, kernel parameters, mount options) are left
/// out.
pub fn describe(root: &Root, recorder: &Recorder) -> SystemDescription {
    let mut facts = std::thread::scope(|scope| {
        let tunables = scope.spawn(|| sysctls::describe(root));
        let mut facts = described_here(root);
        facts.extend(tunables.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        facts
    });
    recorder.facts(&mut facts);
    SystemDescription {
        schema_version: SCHEMA_VERSION,
        taken_at: jiff::Timestamp::now().to_string(),
        facts,
    }
}

/// Describes all but the tunables.
fn described_here(root: &Root) -> BTreeMap<String, Fact> {
    let mut facts = Facts::new(root);
    cpu::describe(&mut facts);
    memory::describe(&mut facts);
    pages::describe(&mut facts);
    dmi::describe(&mut facts);
    virt::describe(&mut facts);
    kernel::describe(&mut facts);
    cgroup::describe(&mut facts);
    identity::describe(&mut facts);
    mounts::describe(&mut facts);
    block::describe(&mut facts);
    network::describe(&mut facts);
    libc_version::describe(&mut facts);
    environment::describe(&mut facts, std::env::vars_os());
    load::describe(&mut facts);
    facts.into_map()
}

#[cfg(test)]
mod tests;
