//! What can go wrong in the process of a trial.

use std::io;

/// Why a trial could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The JSON that says what to do is not what this build writes.
    #[error("the order of the trial cannot be read: {0}; was it written by this build of assay?")]
    Order(#[source] serde_json::Error),
    /// The parameters cannot be, the solver is gone, or a file could not be made or read.
    #[error(transparent)]
    Params(#[from] crate::WorkloadError),
    /// A copy could not be run.
    #[error("{source}{said}")]
    Copies {
        /// Which, and how.
        source: Box<crate::side_by_side::Failure>,
        /// The end of what it printed, with what stands before it; may be empty.
        said: String,
    },
    /// The watch for the lab's end could not be set up.
    #[error("the watch for the lab's end: {0}")]
    Watch(#[source] io::Error),
    /// The lab is gone.
    #[error("the lab has ended already")]
    Stopped,
    /// The kernel does not show what is measured.
    #[error("{0}")]
    Host(String),
}
