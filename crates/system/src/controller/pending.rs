//! Finds and restores changes that crashed runs left behind.

use std::path::{Path, PathBuf};

use crate::Root;
use crate::control::journal::{self, JournalEntry, JournalFile};
use crate::control::knob::same;
use crate::control::setting_path;
use crate::controls::named;
use crate::error::JournalError;
use crate::state::owner::{Owner, OwnerState};

/// A journal whose process has died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    pub path: PathBuf,
    /// Content of the journal's file.
    pub state: PendingState,
}

/// Content of a journal whose process has died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PendingState {
    /// These settings are still changed.
    Left {
        /// The process that changed them.
        owner: Owner,
        /// The changes in the order in which they were made.
        entries: Vec<JournalEntry>,
    },
    /// The machine was rebooted since then, which undid these settings.
    Rebooted {
        /// The changes that were undone.
        entries: Vec<JournalEntry>,
    },
    /// The file cannot be parsed; a person must look at it.
    Corrupt { reason: String },
}

/// Result of restoring one journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreReport {
    pub path: PathBuf,
    /// Results for each setting in the order of restoring: last change first.
    pub settings: Vec<RestoredSetting>,
    /// Remark on the journal as a whole; may be empty.
    pub note: String,
    /// True if everything was restored; then the file has been removed.
    pub done: bool,
}

/// Result of restoring one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredSetting {
    /// The setting as an experiment writes it (`sysctl.vm.swappiness`).
    pub path: String,
    /// The level to restore.
    pub old: String,
    pub outcome: RestoreOutcome,
}

/// Outcome of restoring one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreOutcome {
    /// The setting was restored and read back.
    PutBack {
        /// The level that was found. It differs from the run's level if somebody changed it since
        /// then.
        was: String,
    },
    /// The setting had the old level already.
    AlreadyBack,
    /// The machine was rebooted, which undid the change.
    Rebooted,
    /// The setting could not be restored; the journal keeps it.
    Failed { reason: String },
}

/// Returns the journals whose processes have died; empty if there is no state folder.
///
/// # Errors
/// If the folder cannot be listed, or `/proc` does not reveal which processes are alive. A single
/// file that cannot be parsed is not an error but [`PendingState::Corrupt`].
pub fn pending(state_dir: &Path) -> Result<Vec<Pending>, JournalError> {
    let mut found = Vec::new();
    for path in journal::files(&journal::folder(state_dir))? {
        let state = match journal::read(&path) {
            // Between listing and reading, the process may have ended properly and removed the
            // file.
            Err(_) if !path.exists() => continue,
            // A power failure may leave an empty file, because journals are not flushed.
            Err(_) if journal::is_before_boot(&path) => {
                PendingState::Rebooted { entries: Vec::new() }
            }
            Err(e) => PendingState::Corrupt { reason: e.to_string() },
            Ok(JournalFile { owner, entries, .. }) => match owner.determine_state()? {
                OwnerState::Alive => continue,
                OwnerState::Dead => PendingState::Left { owner, entries },
                OwnerState::Rebooted => PendingState::Rebooted { entries },
            },
        };
        found.push(Pending { path, state });
    }
    Ok(found)
}

/// Restores what crashed runs left changed, last change first, and reads each setting back. A
/// journal is removed when all its changes are restored; failed ones stay for the next time. A file
/// that cannot be parsed is reported and kept. Several processes may call this at once; the second
/// one finds nothing to do.
///
/// # Errors
/// As for [`pending`]; also if a journal cannot be locked, rewritten or removed.
pub fn restore_pending(state_dir: &Path, root: &Root) -> Result<Vec<RestoreReport>, JournalError> {
    let dir = journal::folder(state_dir);
    if !dir.exists() {
        return Ok(Vec::new());
    }
    let _lock = journal::lock(&dir)?;
    journal::sweep(&dir)?;
    // The latest journal first, because a later run may have changed the same object as an earlier
    // one.
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
            let note = "the machine was rebooted since, which reset its settings".to_owned();
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

/// Restores entries, the last one first. Returns the outcome of each, and the failed ones in the
/// order of the journal.
pub(crate) fn put_back(
    entries: &[JournalEntry],
    root: &Root,
) -> (Vec<RestoredSetting>, Vec<JournalEntry>) {
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

fn put_back_one(entry: &JournalEntry, root: &Root) -> RestoreOutcome {
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

fn restored(entry: &JournalEntry, outcome: RestoreOutcome) -> RestoredSetting {
    RestoredSetting {
        path: setting_path(&entry.control, &entry.key),
        old: entry.old.clone(),
        outcome,
    }
}
