//! The catalogue: 60 checks of whether a comparison is honest. A check is a pure function of
//! [`Evidence`]; what the evidence does not hold cannot be checked, which is never a pass. [`run`] is
//! the front door; [`from_run`] makes evidence of a run in the archive.

mod check;
mod claims;
mod classes;
mod design;
mod environment;
mod evidence;
mod from_run;
mod interval;
mod machine;
mod measurement;
pub mod modes;
mod presentation;
mod publication;
mod quantities;
mod report;
mod resources;
mod statistics;
mod table;
mod trend;
mod wording;
mod workload;

pub use check::{Check, Found, Outcome, Profile, Section, Severities};
pub use classes::environment_markdown;
pub use evidence::*;
pub use from_run::{RunMaterial, from_run};
pub use report::{Checked, Report, Unchecked, run};
pub use table::markdown;

/// All 60 checks, F01 to F60 in order.
pub fn catalogue() -> Vec<&'static Check> {
    [
        environment::CHECKS,
        resources::CHECKS,
        machine::CHECKS,
        workload::CHECKS,
        measurement::CHECKS,
        design::CHECKS,
        interval::CHECKS,
        statistics::CHECKS,
        presentation::CHECKS,
        claims::CHECKS,
        quantities::CHECKS,
        wording::CHECKS,
        publication::CHECKS,
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The check of that id (`F31`) or name (`interleaved`).
pub fn find(id: &str) -> Option<&'static Check> {
    catalogue().into_iter().find(|c| c.id.eq_ignore_ascii_case(id) || c.name == id)
}
