//! Why the process of a trial could not do its part.

use std::fmt::Display;
use std::io;
use std::path::Path;

use crate::WorkloadError;

/// Why a trial could not be measured. Wrong results are no failure but an event.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The JSON that says what to do is not what this build writes.
    #[error("the trial spec cannot be read: {0}; was it written by this build of assay?")]
    Spec(#[from] serde_json::Error),
    /// The parameters cannot be, a program is missing, or a file could not be made or read.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A program did not do its part.
    #[error("{what}: {message}")]
    Program {
        /// Which part.
        what: String,
        /// Its own message.
        message: String,
    },
    /// Another program has the port of a server.
    #[error(
        "port {port} is taken: {message}; leave `server.port` out for a free one, or end the program that has it \
         (`ss -ltnp 'sport = :{port}'` names it)"
    )]
    PortTaken {
        /// Which.
        port: u16,
        /// What the server printed.
        message: String,
    },
    /// A step of the trial's own failed: a file, a pipe, a process, what it watches.
    #[error("{what}: {source}")]
    Step {
        /// Which: `open /srv/data`, `start psql`.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// A copy of a program ended with another exit code than 0.
    #[error("{message}")]
    Copy {
        /// Which, from 0.
        index: usize,
        /// Which of how many, on which CPUs, how it ended, and its last lines.
        message: String,
    },
    /// A signal ended it, or the lab is gone.
    #[error("ended by a signal to assay")]
    Stopped,
    /// What one workload alone can say.
    #[error("{0}")]
    Other(String),
}

impl Failure {
    /// What one workload alone can say.
    pub(crate) fn other(what: impl Display) -> Self {
        Failure::Other(what.to_string())
    }

    /// Takes the error of a step. `what` is made into text only where it failed.
    pub(crate) fn step<E: Into<io::Error>>(what: impl Display) -> impl FnOnce(E) -> Self {
        move |source| Failure::Step { what: what.to_string(), source: source.into() }
    }

    /// The same for `action` on a file or pipe.
    pub(crate) fn file<E: Into<io::Error>>(action: &str, path: &Path) -> impl FnOnce(E) -> Self {
        move |source| Failure::step(format!("{action} {}", path.display()))(source)
    }

    /// Takes the error of starting a program.
    pub(crate) fn start(program: impl Display) -> impl FnOnce(io::Error) -> Self {
        move |source| Failure::step(format_args!("start {program}"))(source)
    }

    /// A part of the trial failed, with its own message.
    pub(crate) fn program(what: impl Display, message: impl Into<String>) -> Self {
        Failure::Program { what: what.to_string(), message: message.into() }
    }
}
