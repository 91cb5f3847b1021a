//! The journal: a record of each change to the machine and of the old state, written before the
//! change is made.
//!
//! `STATE/journal/` holds one file for each set of controls that is currently applied,
//! `PID-START-N.json`: the process id, its start in ticks since boot, and a counter. A file is
//! written to a temporary name and renamed; the file is removed when everything is restored. All of
//! this happens under an exclusive lock on `STATE/journal/lock`, which the kernel releases when its
//! holder dies. Nothing is flushed, because a reboot resets the settings anyway.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::error::{ControlError, JournalError};
use crate::state::owner::{Owner, OwnerState};

/// Version of the journal's format.
const VERSION: u32 = 1;

/// One change of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    pub control: String,
    /// The control's key; may be empty.
    pub key: String,
    /// The object on the machine that is changed: a file.
    pub target: String,
    /// The level before the change, which is restored.
    pub old: String,
    /// The level that was about to be set.
    pub new: String,
    /// Time of the change: ISO 8601, UTC.
    pub at: String,
}

/// Content of one file of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JournalFile {
    pub schema_version: u32,
    #[serde(flatten)]
    pub owner: Owner,
    pub entries: Vec<JournalEntry>,
}

/// A file of the journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JournalFileError {
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    #[error("it is not a journal: {0}")]
    Invalid(#[from] serde_json::Error),
    #[error("it is of format {0}, which needs a newer assay (this one reads up to {VERSION})")]
    Newer(u32),
}

/// The journal of one set of controls. Nothing is on disk before the first entry.
#[derive(Debug)]
pub(crate) struct Journal {
    dir: PathBuf,
    path: Option<PathBuf>,
    entries: Vec<JournalEntry>,
}

static COUNT: AtomicU32 = AtomicU32::new(0);

impl Journal {
    pub fn new(state_dir: &Path) -> Self {
        Journal { dir: folder(state_dir), path: None, entries: Vec::new() }
    }

    /// Returns the recorded changes in order.
    pub fn entries(&self) -> &[JournalEntry] {
        &self.entries
    }

    /// Adds an entry; when this returns, it outlives this process.
    pub fn record(&mut self, entry: JournalEntry) -> Result<(), ControlError> {
        create(&self.dir)?;
        let _lock = lock(&self.dir)?;
        let owner = Owner::this().map_err(JournalError::from)?;
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

    /// Ends the journal. The entries in `left` could not be restored and stay on disk; if `left` is
    /// empty, the file is removed.
    pub fn finish(&mut self, left: Vec<JournalEntry>) -> Result<(), JournalError> {
        let Some(path) = self.path.take() else { return Ok(()) };
        let _lock = lock(&self.dir)?;
        self.entries = Vec::new();
        if left.is_empty() {
            return remove(&path);
        }
        let owner = Owner::this()?;
        write(&path, &JournalFile { schema_version: VERSION, owner, entries: left })
    }

    /// Returns an error if another process has changed the same object, because its change would be
    /// mistaken for the state to restore.
    fn refuse_conflict(&self, target: &str) -> Result<(), ControlError> {
        for path in files(&self.dir)? {
            if Some(&path) == self.path.as_ref() {
                continue;
            }
            let Ok(file) = read(&path) else { continue };
            if !file.entries.iter().any(|e| e.target == target) {
                continue;
            }
            match file.owner.determine_state().map_err(JournalError::from)? {
                OwnerState::Alive => {
                    return Err(ControlError::Busy {
                        target: target.to_owned(),
                        pid: file.owner.pid,
                    });
                }
                OwnerState::Dead => {
                    return Err(ControlError::LeftOver { target: target.to_owned() });
                }
                OwnerState::Rebooted => {}
            }
        }
        Ok(())
    }
}

pub(crate) fn folder(state_dir: &Path) -> PathBuf {
    state_dir.join("journal")
}

/// Creates the folder for its owner only: whoever can write to it can make root write files.
fn create(dir: &Path) -> Result<(), JournalError> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed(dir, "made"))
}

/// Waits for the journal's lock, which is held until the file is dropped.
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

/// Returns the journal's files by name; empty if there is no folder.
pub(crate) fn files(dir: &Path) -> Result<Vec<PathBuf>, JournalError> {
    with_extension(dir, "json")
}

/// Returns the files in the folder with this extension.
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

/// Removes files that were only partly written. Must be called under the lock, when nobody is
/// writing. The file that each was to replace still exists and lists the changes.
pub(crate) fn sweep(dir: &Path) -> Result<(), JournalError> {
    for path in with_extension(dir, "part")? {
        remove(&path)?;
    }
    Ok(())
}

/// Reads one file of the journal.
///
/// # Errors
/// The file cannot be read, is not a journal, or was written by a newer assay.
pub(crate) fn read(path: &Path) -> Result<JournalFile, JournalFileError> {
    let file: JournalFile = serde_json::from_str(&fs::read_to_string(path)?)?;
    if file.schema_version > VERSION {
        return Err(JournalFileError::Newer(file.schema_version));
    }
    Ok(file)
}

/// Writes one file of the journal.
pub(crate) fn write(path: &Path, file: &JournalFile) -> Result<(), JournalError> {
    let part = path.with_extension("part");
    serde_json::to_vec_pretty(file)
        .map_err(io::Error::other)
        .and_then(|text| fs::write(&part, text))
        .and_then(|()| fs::rename(&part, path))
        .map_err(failed(path, "written"))
}

/// Removes one file of the journal.
pub(crate) fn remove(path: &Path) -> Result<(), JournalError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed(path, "removed")(e)),
        _ => Ok(()),
    }
}

/// True if the file was written before this machine was booted.
pub(crate) fn is_before_boot(path: &Path) -> bool {
    let up = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let written = path.metadata().and_then(|file| file.modified()).ok();
    let age = written.and_then(|written| written.elapsed().ok());
    age.is_some_and(|age| age.as_secs() > up.tv_sec.unsigned_abs())
}

fn failed<'a>(path: &'a Path, doing: &'static str) -> impl FnOnce(io::Error) -> JournalError + 'a {
    move |source| JournalError::Io { path: path.to_owned(), doing, source }
}
