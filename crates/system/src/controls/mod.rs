//! The controls, one file each, in the order in which help lists them.

mod actions;
mod aslr;
mod cpus;
mod env;
mod huge_page_coverage;
mod hugepages;
mod image;
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

use assay_model::{Scalar, Setting};

use crate::control::{Control, ControlSpec};
use crate::error::ControlError;

static CONTROLS: [&dyn Control; 17] = [
    &cpus::Cpus,
    &sched::SchedControl,
    &nice::Nice,
    &numa::Numa,
    &aslr::Aslr,
    &env::Env,
    &image::ImageControl,
    &thp::Thp,
    &hugepages::Hugepages,
    &pages::Pages,
    &memory::Memory,
    &storage::Storage,
    &irq::Irq,
    &sysctl::Sysctl,
    &sysfs::Sysfs,
    &actions::DROP_CACHES,
    &actions::COMPACT_MEMORY,
];

pub fn all() -> &'static [&'static dyn Control] {
    &CONTROLS
}

/// Returns the control with this name.
pub fn find(name: &str) -> Option<&'static dyn Control> {
    all().iter().copied().find(|c| c.spec().name == name)
}

/// Like [`find`], but returns an error that lists all controls.
pub(crate) fn named(name: &str) -> Result<&'static dyn Control, ControlError> {
    find(name).ok_or_else(|| {
        let names: Vec<&str> = all().iter().map(|c| c.spec().name).collect();
        let nearest = assay_model::nearest(name, names.iter().copied())
            .map(|known| format!("; did you mean `{known}`?"));
        ControlError::Unknown {
            name: name.to_owned(),
            nearest: nearest.unwrap_or_default(),
            known: names.join(", "),
        }
    })
}

/// Parses a setting as an experiment writes it: `cpus`, `sysctl.vm.swappiness`, `env.NAME`,
/// `sysfs./sys/block/sda/queue/scheduler`. Does not check the level; [`Control::check`] does.
///
/// # Errors
/// If there is no such control, or if a key is missing or not allowed.
pub fn parse_setting(path: &str, value: &Scalar) -> Result<Setting, ControlError> {
    let (name, key) = path.split_once('.').unwrap_or((path, ""));
    let spec = named(name)?.spec();
    check_key(spec, key)?;
    Ok(Setting { control: name.to_owned(), key: key.to_owned(), value: value.clone() })
}

/// Checks that a key is present if the control needs one, and absent if it takes none.
pub(crate) fn check_key(spec: &ControlSpec, key: &str) -> Result<(), ControlError> {
    match (spec.keyed, spec.key.is_empty(), key.is_empty()) {
        (true, _, true) => Err(spec.not_a_key(key, format!("it needs a key: {}", spec.key))),
        (false, true, false) => Err(spec.not_a_key(key, "it takes no key")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
