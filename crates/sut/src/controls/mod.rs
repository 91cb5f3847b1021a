//! The controls, one file each, in the order in which help lists them.

mod aslr;
mod backing;
mod compact_memory;
mod cpus;
mod drop_caches;
mod env;
mod hugepages;
mod irq;
mod memory;
mod nice;
mod numa;
mod pages;
mod sched;
mod storage;
mod sysctl;
mod sysfs;
mod thp;

use crate::control::Control;

/// Every control.
pub(crate) static CONTROLS: [&dyn Control; 16] = [
    &cpus::Cpus,
    &sched::SchedControl,
    &nice::Nice,
    &numa::Numa,
    &aslr::Aslr,
    &env::Env,
    &thp::Thp,
    &hugepages::Hugepages,
    &pages::Pages,
    &memory::Memory,
    &storage::Storage,
    &irq::Irq,
    &sysctl::Sysctl,
    &sysfs::Sysfs,
    &drop_caches::DropCaches,
    &compact_memory::CompactMemory,
];

#[cfg(test)]
mod tests;
