//! The description of the system under test: hardware, firmware, kernel, tunables, limits, storage,
//! network and environment, as flat facts. What cannot be read is unknown with its reason; nothing
//! is guessed, and nothing is changed.

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

use assay_model::{SCHEMA_VERSION, SystemDescription};
use assay_redact::Recorder;
use facts::Facts;

use crate::Root;

pub use cgroup::{limited_groups, limited_io};
pub use toolchains::{describe_toolchains, version};

pub(crate) use facts::selected;
pub(crate) use memory::meminfo_bytes;
pub(crate) use virt::cpuid_hypervisor;

/// Describes the system at `root` as it is now. Takes some 50 ms on a small machine, most of it the
/// tunables. Programs are not started: [`describe_toolchains`] does that.
///
/// With a root other than `/`, what only system calls can tell (the processor's own word on the
/// hypervisor, the C library) is unknown, and so is anything whose file is not there. What `recorder`
/// does not let through (values of variables, kernel parameters, mount options) is not in it.
pub fn describe(root: &Root, recorder: &Recorder) -> SystemDescription {
    let mut facts = Facts::new(root);
    cpu::describe(&mut facts);
    memory::describe(&mut facts);
    pages::describe(&mut facts);
    dmi::describe(&mut facts);
    virt::describe(&mut facts);
    kernel::describe(&mut facts);
    sysctls::describe(&mut facts);
    cgroup::describe(&mut facts);
    identity::describe(&mut facts);
    mounts::describe(&mut facts);
    block::describe(&mut facts);
    network::describe(&mut facts);
    libc_version::describe(&mut facts);
    environment::describe(&mut facts, std::env::vars_os());
    load::describe(&mut facts);
    let mut facts = facts.into_map();
    recorder.facts(&mut facts);
    SystemDescription {
        schema_version: SCHEMA_VERSION,
        taken_at: jiff::Timestamp::now().to_string(),
        facts,
    }
}

#[cfg(test)]
mod tests;
