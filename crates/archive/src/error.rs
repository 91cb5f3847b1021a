//! Errors of the archive.

use std::io;
use std::path::{Path, PathBuf};

use assay_model::{RunId, SCHEMA_VERSION};

/// Result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the archive; the message names the object and the next step.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel returned an error.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The operation that failed (`read`, `write`, ...).
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// The file system or the quota is full.
    #[error(
        "no space left to write {}; no partial file was kept. Free some space; an interrupted run \
         can be resumed",
        path.display()
    )]
    Full {
        /// The file that was being written.
        path: PathBuf,
    },
    /// The archive is not writable.
    #[error(
        "cannot {action} {}: {source}; choose another archive with ASSAY_ARCHIVE, or change the \
         owner or permissions of this one",
        path.display()
    )]
    NotWritable {
        /// The operation that failed.
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// None of `ASSAY_ARCHIVE`, `XDG_DATA_HOME` and `HOME` gives a place for the archive.
    #[error(
        "no place for an archive: set ASSAY_ARCHIVE, XDG_DATA_HOME or HOME to an absolute path"
    )]
    NoPlace,
    /// No run matches the reference.
    #[error("no run matches `{wanted}` in {}; see `assay archive list`", archive.display())]
    NoRun {
        /// The reference to a run that was given.
        wanted: String,
        archive: PathBuf,
    },
    /// No deleted run that can be restored matches.
    #[error(
        "no deleted run matches `{wanted}`; `assay archive list --deleted` shows those that can be \
         restored: until the end of the day (UTC) on which they were deleted"
    )]
    NotDeleted {
        /// The reference to a run that was given.
        wanted: String,
    },
    /// A tag or a note of a run is invalid.
    #[error("cannot annotate run {run}: {reason}")]
    Note { run: RunId, reason: String },
    /// Several runs match the reference.
    #[error("`{wanted}` matches {} runs: {}; write more", candidates.len(), shown(candidates))]
    Ambiguous {
        /// The reference to a run that was given.
        wanted: String,
        /// Every run that matches.
        candidates: Vec<RunId>,
    },
    /// Another process is writing the run.
    #[error(
        "run {run} is being written by {owner}; wait for it or end it. If that process no longer \
         exists, delete {}",
        lock.display()
    )]
    Busy {
        run: RunId,
        /// The process that holds the lock.
        owner: String,
        lock: PathBuf,
    },
    /// The run is completed, so it cannot be resumed.
    #[error("run {run} is completed; start a new run of the same experiment instead")]
    Finished { run: RunId },
    /// An earlier write of this run failed, so nothing more is written to it.
    #[error(
        "run {run} accepts no more records because an earlier write failed; acknowledged records \
         are kept. Fix the cause, then resume the run"
    )]
    Broken { run: RunId },
    /// A file was written by a newer assay.
    #[error(
        "{} has format version {found}, and this assay ({}) reads up to {SCHEMA_VERSION}; use the \
         assay that wrote it, or a newer one",
        path.display(),
        env!("CARGO_PKG_VERSION")
    )]
    Newer {
        path: PathBuf,
        /// The file's format version.
        found: u64,
    },
    /// The content of a file is invalid.
    #[error("{} is damaged: {reason}; `assay archive verify` shows the extent", path.display())]
    Damaged { path: PathBuf, reason: String },
    /// A file is larger than the limit for its kind.
    #[error("{} has {found} bytes, and files of its kind have at most {limit}", path.display())]
    TooLarge {
        path: PathBuf,
        /// Size of the file in bytes.
        found: u64,
        /// Maximum size in bytes.
        limit: u64,
    },
    /// A record would change if it were written and read back.
    #[error("trial {number} of run {run} cannot be recorded: {reason}")]
    Record {
        run: RunId,
        /// Number of the trial.
        number: u32,
        reason: String,
    },
    /// A Parquet file could not be written.
    #[error("cannot write {} as Parquet: {source}", path.display())]
    Parquet { path: PathBuf, source: parquet::errors::ParquetError },
    /// An archive file (`.tar.zst`) was refused.
    #[error("cannot import {}: {reason}; nothing was kept", path.display())]
    Refused { path: PathBuf, reason: String },
    /// The archive has a different run with the same id.
    #[error("run {run} of the archive differs from {}; remove one of the two", path.display())]
    Differs {
        run: RunId,
        /// The file that was to be imported.
        path: PathBuf,
    },
    /// The index is unusable. Callers inside the crate fall back to the files.
    #[error("cannot use the index {}: {source}; delete it to have it rebuilt", path.display())]
    Index { path: PathBuf, source: rusqlite::Error },
    /// The experiment that was made for imported results cannot be written.
    #[error("the experiment of `{name}` cannot be written as TOML: {reason}")]
    Experiment {
        /// Name of the experiment.
        name: String,
        reason: String,
    },
    /// A file that an export would write exists already.
    #[error("{} exists already; choose another place or remove it", path.display())]
    Exists { path: PathBuf },
}

fn shown(candidates: &[RunId]) -> String {
    let mut text: Vec<&str> = candidates.iter().take(8).map(RunId::as_str).collect();
    if candidates.len() > text.len() {
        text.push("...");
    }
    text.join(", ")
}

impl Error {
    /// Wraps an I/O error with its path; a full or read-only file system becomes a variant of its
    /// own.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::Full { path },
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied
                if action != "read" =>
            {
                Error::NotWritable { action, path, source }
            }
            _ => Error::Io { action, path, source },
        }
    }

    /// Returns the file that could not be read, if the error is about one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Error::Io { path, .. }
            | Error::Newer { path, .. }
            | Error::Damaged { path, .. }
            | Error::TooLarge { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Makes the error for a file with invalid content.
    #[expect(clippy::needless_pass_by_value, reason = "`map_err(|e| damaged(path, e))` reads best")]
    pub(crate) fn damaged(path: &Path, reason: impl ToString) -> Self {
        Error::Damaged { path: path.to_owned(), reason: reason.to_string() }
    }

    /// True if the file system is full or not writable. Readers then continue without repairing the
    /// run.
    pub(crate) fn is_unwritable(&self) -> bool {
        matches!(self, Error::Full { .. } | Error::NotWritable { .. })
    }
}
