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
    /// A call on the file failed.
    #[error("{call} of {size} B at byte {position} of {file}: {source}")]
    Call {
        /// `read(2)`, `write(2)`, ...
        call: &'static str,
        /// The size of the buffer, bytes.
        size: u64,
        /// Where in the file.
        position: u64,
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file could not be opened or made.
    #[error("{action} {file}: {source}")]
    File {
        /// `open`, `remove`, ...
        action: &'static str,
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file system does not take O_DIRECT.
    #[error(
        "{file} is on a file system that refuses O_DIRECT ({source}); \
         give `path` a folder on another one, or use `cache = \"page\"`"
    )]
    NoDirect {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A process of the trial could not be started or kept where it belongs.
    #[error("{what}: {source}")]
    Process {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// A process of the trial said that it failed, or ended without a word.
    #[error("process {index} of the trial: {message}")]
    Worker {
        /// Which, from 0.
        index: u32,
        /// What it said.
        message: String,
    },
    /// The conversation between the processes broke off.
    #[error("the processes of the trial lost each other while {during}: {source}")]
    Talk {
        /// What was going on.
        during: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// A failed system call as an [`io::Error`].
pub fn os(errno: rustix::io::Errno) -> io::Error {
    io::Error::from_raw_os_error(errno.raw_os_error())
}
