//! What can go wrong in the process of a trial.

use std::io;
use std::path::PathBuf;

/// Why a trial could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The JSON that says what to do is not what this build writes.
    #[error("the order of the trial cannot be read: {0}; was it written by this build of assay?")]
    Order(#[source] serde_json::Error),
    /// The parameters cannot be, or a file not be made or read.
    #[error(transparent)]
    Workload(#[from] crate::WorkloadError),
    /// The user that the server runs as cannot get into the trial's folder.
    #[error(
        "the user {user}, whom PostgreSQL runs as, may not enter {path}; set ASSAY_SCRATCH to a folder that \
         everybody may enter"
    )]
    Closed {
        /// The user.
        user: String,
        /// The folder.
        path: PathBuf,
    },
    /// The path of its socket is longer than a socket's may be.
    #[error(
        "the path of the server's socket has {0} bytes, of at most 107; set ASSAY_SCRATCH to a shorter one"
    )]
    Path(usize),
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
    /// A watch of the trial's own could not be set up.
    #[error("{what}: {source}")]
    Watch {
        /// Which.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A signal ended it, or the lab is gone.
    #[error("ended by a signal to assay")]
    Stopped,
}
