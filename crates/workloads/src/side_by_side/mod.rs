//! Copies of one program side by side: each in a folder of its own, bound to CPUs of its own, started
//! together, waited for, and added up. `assay __work copies FILE` is the process that does it, and
//! `assay __work copy JSON` what a copy is until its moment comes and it becomes the program.

mod copy;
mod crew;
mod order;
mod report;

pub use copy::become_program;
pub use crew::{Done, Measured, run};
pub use order::{CopyOrder, Order};
pub use report::trial;

/// The name under which assay runs the copies of a trial.
pub const CREW: &str = "copies";
/// The name under which assay runs one copy until it becomes the program.
pub const COPY: &str = "copy";

/// Why copies could not be run.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The order is not one.
    #[error("the order of the copies: {0}")]
    Order(String),
    /// A copy could not be started, or did not come to its start.
    #[error("copy {copy} of {copies}: {what}")]
    Start {
        /// Which, from 1.
        copy: usize,
        /// Of how many.
        copies: usize,
        /// What happened.
        what: String,
    },
    /// A copy ended in another way than with exit code 0.
    #[error("copy {copy} of {copies} (CPUs {cpus}) {how}{hint}{said}")]
    Ended {
        /// Which, from 1.
        copy: usize,
        /// Of how many.
        copies: usize,
        /// Where it ran.
        cpus: String,
        /// `ended with exit code 3`.
        how: String,
        /// What the kernel has to say to it; may be empty.
        hint: String,
        /// The last lines of its standard error in one, with what stands before them; may be empty.
        said: String,
    },
    /// A file or a pipe failed.
    #[error("{action} {path}: {source}")]
    Io {
        /// `open`, `write`.
        action: &'static str,
        /// Which.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Failure {
    fn io(action: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Failure::Io { action, path, source }
    }
}
