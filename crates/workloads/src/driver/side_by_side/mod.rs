//! Concurrent copies of one program: each in its own folder and on its own CPUs, started together
//! and waited for, with their resource usage summed. `assay __work copies FILE` is the process that
//! manages them, and `assay __work copy JSON` is a copy until it becomes the program.

mod copy;
mod crew;
mod report;
mod spec;

pub use copy::become_program;
pub use crew::{ReplicaResults, run};
pub use report::trial;
pub use spec::{CopySpec, ReplicasSpec};

/// Name of the trial program that runs the copies.
pub const CREW: &str = "copies";
/// Name of the program of one copy until it becomes the measured program.
pub const COPY: &str = "copy";
