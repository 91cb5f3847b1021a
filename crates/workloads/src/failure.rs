//! Why the process of a trial could not do its part.

use std::fmt::Display;
use std::io;

use crate::WorkloadError;

/// Why a trial could not be measured. Wrong results are no failure but an event.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The JSON that says what to do is not what this build writes.
    #[error("the order of the trial cannot be read: {0}; was it written by this build of assay?")]
    Spec(#[from] serde_json::Error),
    /// The parameters cannot be, a program is missing, or a file could not be made or read.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A program could not be started.
    #[error("start {program}: {source}")]
    Start {
        /// Which.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// A program did not do its part.
    #[error("{what}: {said}")]
    Said {
        /// Which part.
        what: String,
        /// Its own words.
        said: String,
    },
    /// Another program has the port of a server.
    #[error(
        "port {port} is taken: {said}; leave `server.port` out for a free one, or end the program that has it \
         (`ss -ltnp 'sport = :{port}'` names it)"
    )]
    PortTaken {
        /// Which.
        port: u16,
        /// What the server printed.
        said: String,
    },
    /// Something of the trial's own could not be set up.
    #[error("{what}: {source}")]
    Watch {
        /// What.
        what: &'static str,
        /// What the system said.
        source: io::Error,
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
}
