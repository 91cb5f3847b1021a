//! Failures of a trial's process.

use std::fmt::Display;
use std::io;
use std::path::Path;

use crate::WorkloadError;

/// Result of a step of a trial.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Reason why a trial could not be measured. Wrong results are not a failure: they are an event.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The trial spec is not JSON in the format of this build.
    #[error("the trial spec cannot be read: {0}; was it written by this build of assay?")]
    Spec(#[from] serde_json::Error),
    /// A parameter is invalid, a program is missing, or a file cannot be created or read.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A program that the trial runs failed.
    #[error("{what}: {message}")]
    Program {
        /// Part of the trial that failed.
        what: String,
        /// Message of the program.
        message: String,
    },
    /// Another program already listens on the port of a server.
    #[error(
        "port {port} is taken: {message}; leave `server.port` out for a free one, or end the \
         program that has it (`ss -ltnp 'sport = :{port}'` names it)"
    )]
    PortTaken {
        /// The port that is taken.
        port: u16,
        /// Output of the server.
        message: String,
    },
    /// A step of the trial itself failed: on a file, a pipe, a process or a watch.
    #[error("{what}: {source}")]
    Step {
        /// Name of the step: `open /srv/data`, `start psql`.
        what: String,
        /// Error of the system.
        source: io::Error,
    },
    /// A copy of a program ended with an exit code other than 0.
    #[error("{message}")]
    Copy {
        /// Number of the copy, from 0.
        index: usize,
        /// Number of the copy and of all copies, its CPUs, its exit status, and its last lines.
        message: String,
    },
    /// A signal ended the trial, or the lab's process ended.
    #[error("ended by a signal to assay")]
    Stopped,
    /// A failure specific to one workload.
    #[error("{0}")]
    Other(String),
}

impl Failure {
    /// Creates a failure specific to one workload.
    pub(crate) fn other(what: impl Display) -> Self {
        Failure::Other(what.to_string())
    }

    /// Converts the error of a step, for `map_err`. `what` is formatted only on failure.
    pub(crate) fn step<E: Into<io::Error>>(what: impl Display) -> impl FnOnce(E) -> Self {
        move |source| Failure::Step { what: what.to_string(), source: source.into() }
    }

    /// Converts the error of `action` on a file or pipe, for `map_err`.
    pub(crate) fn file<E: Into<io::Error>>(action: &str, path: &Path) -> impl FnOnce(E) -> Self {
        move |source| Failure::step(format!("{action} {}", path.display()))(source)
    }

    /// Converts the error of starting a program, for `map_err`.
    pub(crate) fn start(program: impl Display) -> impl FnOnce(io::Error) -> Self {
        move |source| Failure::step(format_args!("start {program}"))(source)
    }

    /// Creates the failure of a program with its own message.
    pub(crate) fn program(what: impl Display, message: impl Into<String>) -> Self {
        Failure::Program { what: what.to_string(), message: message.into() }
    }
}
