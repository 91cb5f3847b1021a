//! Errors of a workload and its kit.

use std::path::{Path, PathBuf};

use crate::problem::Problem;

/// Result of an operation of a workload.
pub type Result<T, E = WorkloadError> = std::result::Result<T, E>;

/// Error of a workload. Each message states the operation that failed, its object, and a remedy.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// A parameter or a combination of parameters is invalid, or a workload with this name does not
    /// exist.
    #[error("{0}")]
    Param(String),
    /// Something that the workload needs is missing on this machine.
    #[error("{what} is needed and was not found; {remedy}")]
    Missing {
        /// The missing program or file.
        what: String,
        /// Remedy: `install the Debian package ...`.
        remedy: String,
    },
    /// A program exists but is not executable.
    #[error("{what} exists but is not executable; {remedy}")]
    NotExecutable {
        /// The file that is not executable.
        what: String,
        /// Remedy: `chmod +x ...`.
        remedy: String,
    },
    /// An input that is made once for all trials of a treatment could not be made.
    #[error("{0}")]
    Once(Box<WorkloadError>),
    /// A step (fetch, build, prepare) failed.
    #[error("{step} failed: {detail}")]
    Step {
        /// Name of the step.
        step: String,
        /// Description of the failure, with the last lines of its output.
        detail: String,
    },
    /// A file could not be read or written.
    #[error("{action} {path}: {source}")]
    Io {
        /// Operation: `read`, `write`, `create`.
        action: &'static str,
        /// The file that it failed on.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The file of a kit or a suite has a mistake.
    #[error(transparent)]
    Kit(#[from] Problem),
}

impl WorkloadError {
    /// Creates the error of a failed step.
    pub(crate) fn step(step: impl Into<String>, detail: impl Into<String>) -> Self {
        WorkloadError::Step { step: step.into(), detail: detail.into() }
    }

    /// Converts a system error about `path`, for `map_err`.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| WorkloadError::Io { action, path, source }
    }
}
