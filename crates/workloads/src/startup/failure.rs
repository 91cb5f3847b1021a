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
    /// The parameters cannot be, or the solver is gone.
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
    /// A file could not be made or read.
    #[error("{action} {path}: {source}")]
    File {
        /// `make`, `read`.
        action: &'static str,
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The kernel does not show what is measured.
    #[error("{0}")]
    Host(String),
}

impl Failure {
    pub(super) fn file(
        action: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Failure::File { action, path, source }
    }
}
