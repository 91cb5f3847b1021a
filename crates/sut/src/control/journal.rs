//! The journal: what is about to be changed and what it was, on disk before anything is changed.
//!
//! `STATE/journal/` holds one file for each set of controls that is applied at this moment,
//! `PID-START-N.json`: the process, its start in ticks since boot, a count. A file is written to a
//! temporary name, flushed, renamed, and its folder flushed; it goes when everything is back. All
//! of it happens under an exclusive lock on `STATE/journal/lock`, which the kernel drops when its
//! holder dies.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::control::error::ControlError;
use crate::control::owner::{Fate, Owner};
use crate::state_file;

/// The version of the journal's format.
const VERSION: u32 = 1;

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The control's name.
    pub control: String,
    /// Its key; empty where it has none.
    pub key: String,
    /// What on the machine is changed: a file.
    pub target: String,
    /// The level before: what is restored.
    pub old: String,
    /// The level that was about to be set.
    pub new: String,
    /// When: ISO 8601, UTC.
    pub at: String,
}

/// One file of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JournalFile {
    pub schema_version: u32,
    #[serde(flatten)]
    pub owner: Owner,
    pub entries: Vec<Entry>,
}

/// A journal that cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file or folder of it.
    #[error(
        "the journal of changes, `{}`, cannot be {doing}: {source} (the folder is chosen by \
         $ASSAY_STATE)",
        path.display()
    )]
    Io {
        /// Which.
        path: PathBuf,
        /// What was to be done with it.
        doing: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// The system does not tell which process this is, or whether another one lives.
    #[error("the process that a journal belongs to cannot be identified: {reason}")]
    Owner {
        /// Why.
        reason: String,
    },
}

/// The journal of one set of controls. Nothing is on disk before the first entry.
#[derive(Debug)]
pub(crate) struct Journal {
    dir: PathBuf,
    path: Option<PathBuf>,
    entries: Vec<Entry>,
}

static COUNT: AtomicU32 = AtomicU32::new(0);

impl Journal {
    pub fn new(state_dir: &Path) -> Self {
        Journal { dir: folder(state_dir), path: None, entries: Vec::new() }
    }

    /// What was recorded, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds an entry; it is on disk when this returns.
    pub fn record(&mut self, entry: Entry) -> Result<(), ControlError> {
        create(&self.dir)?;
        let _lock = lock(&self.dir)?;
        let owner = Owner::this().map_err(|reason| JournalError::Owner { reason })?;
        self.refuse_conflict(&entry.target)?;
        let path = self.path.get_or_insert_with(|| {
            let n = COUNT.fetch_add(1, Ordering::Relaxed);
            self.dir.join(format!("{}-{}-{n}.json", owner.pid, owner.start_ticks))
        });
        let mut entries = self.entries.clone();
        entries.push(entry);
        let file = JournalFile { schema_version: VERSION, owner, entries };
        write(path, &file)?;
        self.entries = file.entries;
        Ok(())
    }

    /// Ends the journal: `left` is what could not be restored and stays on disk. Nothing left
    /// removes the file.
    pub fn finish(&mut self, left: Vec<Entry>) -> Result<(), JournalError> {
        let Some(path) = self.path.take() else { return Ok(()) };
        let _lock = lock(&self.dir)?;
        self.entries = Vec::new();
        if left.is_empty() {
            return remove(&path);
        }
        let owner = Owner::this().map_err(|reason| JournalError::Owner { reason })?;
        write(&path, &JournalFile { schema_version: VERSION, owner, entries: left })
    }

    /// Somebody else's change of the same thing would be taken for the state to restore.
    fn refuse_conflict(&self, target: &str) -> Result<(), ControlError> {
        for path in files(&self.dir)? {
            if Some(&path) == self.path.as_ref() {
                continue;
            }
            let Ok(file) = read(&path) else { continue };
            if !file.entries.iter().any(|e| e.target == target) {
                continue;
            }
            match file.owner.fate().map_err(|reason| JournalError::Owner { reason })? {
                Fate::Alive => {
                    return Err(ControlError::Busy {
                        target: target.to_owned(),
                        pid: file.owner.pid,
                    });
                }
                Fate::Dead => return Err(ControlError::LeftOver { target: target.to_owned() }),
                Fate::Rebooted => {}
            }
        }
        Ok(())
    }
}

/// The folder of the journal.
pub(crate) fn folder(state_dir: &Path) -> PathBuf {
    state_dir.join("journal")
}

/// Makes the folder, for its owner only: whoever can write it can have root write files.
fn create(dir: &Path) -> Result<(), JournalError> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed(dir, "made"))
}

/// Waits for the journal's lock; it is held until the file is dropped.
pub(crate) fn lock(dir: &Path) -> Result<File, JournalError> {
    let path = dir.join("lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(failed(&path, "opened"))?;
    loop {
        match flock(&file, FlockOperation::LockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(failed(&path, "locked")(e.into())),
        }
    }
}

/// The journal's files by name; none if there is no folder.
pub(crate) fn files(dir: &Path) -> Result<Vec<PathBuf>, JournalError> {
    with_extension(dir, "json")
}

/// Files of the folder that end so.
fn with_extension(dir: &Path, extension: &str) -> Result<Vec<PathBuf>, JournalError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(failed(dir, "listed")(e)),
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == extension))
        .collect();
    paths.sort();
    Ok(paths)
}

/// Removes what writers left half written; to be called under the lock, when nobody writes. The
/// file that each was to replace is still there and says what had been changed.
pub(crate) fn sweep(dir: &Path) -> Result<(), JournalError> {
    for path in with_extension(dir, "part")? {
        remove(&path)?;
    }
    Ok(())
}

/// Reads one file.
///
/// # Errors
/// A sentence: it cannot be read, is not a journal, or was written by a newer assay.
pub(crate) fn read(path: &Path) -> Result<JournalFile, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("it cannot be read: {e}"))?;
    let file: JournalFile =
        serde_json::from_str(&text).map_err(|e| format!("it is not a journal: {e}"))?;
    if file.schema_version > VERSION {
        return Err(format!(
            "it is of format {}, which needs a newer assay (this one reads up to {VERSION})",
            file.schema_version
        ));
    }
    Ok(file)
}

/// Writes one file.
pub(crate) fn write(path: &Path, file: &JournalFile) -> Result<(), JournalError> {
    serde_json::to_vec_pretty(file)
        .map_err(io::Error::other)
        .and_then(|text| state_file::write(path, &text))
        .map_err(failed(path, "written"))
}

/// Removes one file for good.
pub(crate) fn remove(path: &Path) -> Result<(), JournalError> {
    state_file::remove(path).map_err(failed(path, "removed"))
}

fn failed<'a>(path: &'a Path, doing: &'static str) -> impl FnOnce(io::Error) -> JournalError + 'a {
    move |source| JournalError::Io { path: path.to_owned(), doing, source }
}
