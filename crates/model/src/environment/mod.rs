//! Compares descriptions of systems as data: the significance of a difference in a fact
//! ([`classes`]), the consequences of a factor ([`entailments`]), and the differences between two
//! systems ([`diff`]). These are pure functions; the crate `system` reads the machine.

mod class;
mod cpu_limits;
pub mod cpulist;
mod diff;
mod implied_facts;

pub use class::{FactClass, classes};
pub use cpu_limits::cpu_limits;
pub use diff::{AcceptError, DifferenceClass, EnvDiff, FactDiff, diff, entailments};

/// True if a value of the fact `virt.hypervisor` names an emulator, as `QEMU, emulated (TCG)` does.
pub fn is_emulated(hypervisor: &str) -> bool {
    hypervisor.contains("emulated (")
}
