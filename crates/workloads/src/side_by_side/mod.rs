//! Copies of one program side by side: each in a folder of its own, bound to CPUs of its own, started
//! together, waited for, and added up. `assay __work copies FILE` is the process that does it, and
//! `assay __work copy JSON` what a copy is until its moment comes and it becomes the program.

mod copy;
mod crew;
mod report;
mod spec;

pub use copy::become_program;
pub use crew::{Measured, run};
pub use report::trial;
pub use spec::{CopySpec, CrewSpec};

/// The name under which assay runs the copies of a trial.
pub const CREW: &str = "copies";
/// The name under which assay runs one copy until it becomes the program.
pub const COPY: &str = "copy";
