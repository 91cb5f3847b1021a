//! What can go wrong with an archive.

use std::io;
use std::path::{Path, PathBuf};

use assay_model::{RunId, SCHEMA_VERSION};

/// The result of everything here.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, on what, and what to try.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel refused something.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried (`read`, `write`, ...).
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The file system or the quota is full.
    #[error(
        "no space left to write {}; nothing half-written was kept. Free some space; a run that was \
         being written can be resumed",
        path.display()
    )]
    Full {
        /// What was being written.
        path: PathBuf,
    },
    /// The archive is not writable.
    #[error(
        "cannot {action} {}: {source}; choose another archive with ASSAY_ARCHIVE, or change the \
         owner or permissions of this one",
        path.display()
    )]
    NotWritable {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// Neither `ASSAY_ARCHIVE`, `XDG_DATA_HOME` nor `HOME` says where archives live.
    #[error(
        "no place for an archive: set ASSAY_ARCHIVE, XDG_DATA_HOME or HOME to an absolute path"
    )]
    NoPlace,
    /// There is no such run.
    #[error("no run matches `{wanted}` in {}; `assay archive list` shows what is there", archive.display())]
    NoRun {
        /// What was asked for.
        wanted: String,
        /// Where it was looked for.
        archive: PathBuf,
    },
    /// No such run can be restored.
    #[error(
        "no deleted run matches `{wanted}`; `assay archive list --deleted` shows those that can be \
         restored: until the end of the day (UTC) on which they were deleted"
    )]
    NotDeleted {
        /// What was asked for.
        wanted: String,
    },
    /// A tag or a note of a run is not one.
    #[error("run {run} is not annotated: {reason}")]
    Note {
        /// The run.
        run: RunId,
        /// Why not.
        reason: String,
    },
    /// Several runs match.
    #[error("`{wanted}` matches {} runs: {}; write more of the id", candidates.len(), shown(candidates))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// Every run that matches.
        candidates: Vec<RunId>,
    },
    /// Another process is writing the run.
    #[error(
        "run {run} is being written by {owner}; wait for it or end it. If that process is certainly \
         gone, delete {}",
        lock.display()
    )]
    Busy {
        /// The run.
        run: RunId,
        /// Who holds it.
        owner: String,
        /// The lock file.
        lock: PathBuf,
    },
    /// The run came to its planned end, so there is nothing to resume.
    #[error("run {run} is completed; start a new run of the same experiment instead")]
    Finished {
        /// The run.
        run: RunId,
    },
    /// An earlier write of this run failed, so nothing more is written to it.
    #[error(
        "run {run} takes no more records since an earlier write failed; what was acknowledged is \
         kept. Put right what failed, then resume the run"
    )]
    Broken {
        /// The run.
        run: RunId,
    },
    /// A file was written by a newer assay.
    #[error(
        "{} has format version {found}, and this assay ({}) reads up to {SCHEMA_VERSION}; use the \
         assay that wrote it, or a newer one",
        path.display(),
        env!("CARGO_PKG_VERSION")
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
    },
    /// A file does not hold what it should.
    #[error("{} is damaged: {reason}; `assay archive verify` shows the extent", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// In what way.
        reason: String,
    },
    /// A file is larger than what is read of its kind.
    #[error("{} is {found} bytes, and at most {limit} are read of its kind; it is not what it seems", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// A record would not survive being written and read.
    #[error("trial {number} of run {run} cannot be recorded: {reason}")]
    Record {
        /// The run.
        run: RunId,
        /// The trial.
        number: u32,
        /// Why not.
        reason: String,
    },
    /// Parquet could not be written.
    #[error("cannot write {} as Parquet: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// The writer's error.
        source: parquet::errors::ParquetError,
    },
    /// An archive file (`.tar.zst`) is refused.
    #[error("{} is refused: {reason}; nothing of it was kept", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The archive has another run of that id.
    #[error("run {run} is in the archive already and differs from {}; remove one of the two", path.display())]
    Differs {
        /// The run.
        run: RunId,
        /// The file that was to be imported.
        path: PathBuf,
    },
    /// The index could not be used. Callers inside the crate fall back to the files.
    #[error("cannot use the index {}: {source}; delete it, it is rebuilt from the runs", path.display())]
    Index {
        /// The index.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// An experiment that was made of imported results cannot be written.
    #[error("the experiment of `{name}` cannot be written as TOML: {reason}")]
    Experiment {
        /// Its name.
        name: String,
        /// Why not.
        reason: String,
    },
    /// A file of the target folder of an export is there already.
    #[error("{} exists already; choose another place or remove it", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
}

fn shown(candidates: &[RunId]) -> String {
    let mut text: Vec<&str> = candidates.iter().take(8).map(RunId::as_str).collect();
    if candidates.len() > text.len() {
        text.push("...");
    }
    text.join(", ")
}

impl Error {
    /// An I/O failure with its place; a full or read-only file system becomes its own variant.
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

    /// The file that could not be read, where it is about one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Error::Io { path, .. }
            | Error::Newer { path, .. }
            | Error::Damaged { path, .. }
            | Error::TooLarge { path, .. } => Some(path),
            _ => None,
        }
    }

    /// A file that does not hold what it should.
    #[expect(clippy::needless_pass_by_value, reason = "`map_err(|e| damaged(path, e))` reads best")]
    pub(crate) fn damaged(path: &Path, reason: impl ToString) -> Self {
        Error::Damaged { path: path.to_owned(), reason: reason.to_string() }
    }

    /// Whether the cause is a place that cannot be written now: reading goes on without repair then.
    pub(crate) fn is_unwritable(&self) -> bool {
        matches!(self, Error::Full { .. } | Error::NotWritable { .. })
    }
}
