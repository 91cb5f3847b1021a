//! What runs that crashed left changed, and restoring it.

use std::path::{Path, PathBuf};

use crate::Root;
use crate::control::journal::{self, Entry, JournalError, JournalFile};
use crate::control::knob::same;
use crate::control::owner::{Fate, Owner};
use crate::control::setting_path;
use crate::controls::named;

/// A journal whose process is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The journal's file.
    pub path: PathBuf,
    /// What it says.
    pub state: PendingState,
}

/// What a journal says whose process is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PendingState {
    /// These settings are still changed.
    Left {
        /// The process that changed them.
        owner: Owner,
        /// The changes in the order in which they were made.
        entries: Vec<Entry>,
    },
    /// The machine was started anew since; these settings went with it.
    Rebooted {
        /// The changes that are gone.
        entries: Vec<Entry>,
    },
    /// The file cannot be understood; a person must look at it.
    Corrupt {
        /// Why.
        reason: String,
    },
}

/// What was done about one journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreReport {
    /// The journal's file.
    pub path: PathBuf,
    /// What was done about each setting, in the order of restoring: the last change first.
    pub settings: Vec<RestoredSetting>,
    /// What to know about the journal as a whole; empty if nothing.
    pub note: String,
    /// Whether nothing of it is left to do; the file is then gone.
    pub done: bool,
}

/// What was done about one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredSetting {
    /// The setting as an experiment writes it (`sysctl.vm.swappiness`).
    pub path: String,
    /// The level that was to be restored.
    pub old: String,
    /// What happened.
    pub outcome: RestoreOutcome,
}

/// What happened to one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreOutcome {
    /// It was restored and read back.
    PutBack {
        /// The level that was found; unlike the one that the run had set if somebody else changed
        /// it since.
        was: String,
    },
    /// It had the old level already.
    AlreadyBack,
    /// The machine was started anew, and the change went with it.
    Rebooted,
    /// It could not be restored; the journal keeps it.
    Failed {
        /// Why.
        reason: String,
    },
}

/// The journals whose processes are gone. None if there is no state folder.
///
/// # Errors
/// The folder cannot be listed, or `/proc` does not tell which processes live. A single file that
/// cannot be understood is not an error but [`PendingState::Corrupt`].
pub fn pending(state_dir: &Path) -> Result<Vec<Pending>, JournalError> {
    let mut found = Vec::new();
    for path in journal::files(&journal::folder(state_dir))? {
        let state = match journal::read(&path) {
            // Between listing and reading its process may have ended well and removed it.
            Err(_) if !path.exists() => continue,
            Err(reason) => PendingState::Corrupt { reason },
            Ok(JournalFile { owner, entries, .. }) => {
                match owner.fate().map_err(|reason| JournalError::Owner { reason })? {
                    Fate::Alive => continue,
                    Fate::Dead => PendingState::Left { owner, entries },
                    Fate::Rebooted => PendingState::Rebooted { entries },
                }
            }
        };
        found.push(Pending { path, state });
    }
    Ok(found)
}

/// Puts back what crashed runs left changed, the last change first, and reads each back. Files of
/// journals go when all of them is back; what failed stays for the next time. A file that cannot be
/// understood is reported and kept. Several processes may call it at once; the second finds nothing
/// left to do.
///
/// # Errors
/// As [`pending`]; a journal cannot be locked, rewritten or removed.
pub fn restore_pending(state_dir: &Path, root: &Root) -> Result<Vec<RestoreReport>, JournalError> {
    let dir = journal::folder(state_dir);
    if !dir.exists() {
        return Ok(Vec::new());
    }
    let _lock = journal::lock(&dir)?;
    journal::sweep(&dir)?;
    // The latest journal first: a later run may have changed what an earlier one had changed.
    let mut left = pending(state_dir)?;
    left.sort_by_key(|p| std::cmp::Reverse(first_at(p)));
    left.into_iter().map(|p| restore_one(p, root)).collect()
}

fn first_at(pending: &Pending) -> String {
    match &pending.state {
        PendingState::Left { entries, .. } | PendingState::Rebooted { entries } => {
            entries.first().map(|e| e.at.clone()).unwrap_or_default()
        }
        PendingState::Corrupt { .. } => String::new(),
    }
}

fn restore_one(pending: Pending, root: &Root) -> Result<RestoreReport, JournalError> {
    let Pending { path, state } = pending;
    match state {
        PendingState::Corrupt { reason } => {
            Ok(RestoreReport { path, settings: Vec::new(), note: reason, done: false })
        }
        PendingState::Rebooted { entries } => {
            journal::remove(&path)?;
            let settings =
                entries.iter().rev().map(|e| restored(e, RestoreOutcome::Rebooted)).collect();
            let note = "the machine was started anew since; its settings went with it".to_owned();
            Ok(RestoreReport { path, settings, note, done: true })
        }
        PendingState::Left { owner, entries } => {
            let (settings, failed) = put_back(&entries, root);
            let done = failed.is_empty();
            if done {
                journal::remove(&path)?;
            } else {
                let file = JournalFile { schema_version: 1, owner, entries: failed };
                journal::write(&path, &file)?;
            }
            Ok(RestoreReport { path, settings, note: String::new(), done })
        }
    }
}

/// Puts entries back, the last first. Returns what happened to each, and those that failed in the
/// order of the journal.
pub(crate) fn put_back(entries: &[Entry], root: &Root) -> (Vec<RestoredSetting>, Vec<Entry>) {
    let mut settings = Vec::new();
    let mut failed = Vec::new();
    for entry in entries.iter().rev() {
        let outcome = put_back_one(entry, root);
        if matches!(outcome, RestoreOutcome::Failed { .. }) {
            failed.push(entry.clone());
        }
        settings.push(restored(entry, outcome));
    }
    failed.reverse();
    (settings, failed)
}

fn put_back_one(entry: &Entry, root: &Root) -> RestoreOutcome {
    let attempt = || {
        let control = named(&entry.control)?;
        let was = control.current(root, &entry.key)?.to_text();
        if same(&was, &entry.old) {
            return Ok(RestoreOutcome::AlreadyBack);
        }
        control.restore(root, &entry.key, &entry.old)?;
        Ok(RestoreOutcome::PutBack { was })
    };
    attempt()
        .unwrap_or_else(|e: crate::ControlError| RestoreOutcome::Failed { reason: e.to_string() })
}

fn restored(entry: &Entry, outcome: RestoreOutcome) -> RestoredSetting {
    RestoredSetting {
        path: setting_path(&entry.control, &entry.key),
        old: entry.old.clone(),
        outcome,
    }
}
