//! Putting a run in order that its writer left behind: kill -9, a full disk or a lost power.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use assay_model::LedgerEvent;

use crate::chain::{self, Chain};
use crate::disk::{self, Durability, MAX_DATA};
use crate::layout::{LEDGER, TRIAL_STAGING, TRIALS, WAL, trial_folder};
use crate::lock::{Held, Lock, Purpose, look};
use crate::wal;
use crate::{Error, Result};

/// Whether something was left that [`settle`] would put in order.
pub(crate) fn is_left_behind(run: &Path) -> bool {
    run.join(WAL).exists() || run.join(TRIAL_STAGING).exists() || look(run) == Held::Dead
}

/// Puts the run in order unless a living process holds it.
pub(crate) fn settle_if_dead(run: &Path) -> Result<()> {
    if !is_left_behind(run) || matches!(look(run), Held::Alive(..)) {
        return Ok(());
    }
    match Lock::take(run, Purpose::Repair)? {
        Ok(_lock) => settle(run).map(|_| ()),
        Err(_) => Ok(()), // another process does it
    }
}

/// Plays the write-ahead file into place, cuts the ledger's torn tail and removes what was being
/// put together. Doing it twice, or being killed in the middle, is fine. The caller holds the lock.
///
/// Returns the ledger as it is then.
pub(crate) fn settle(run: &Path) -> Result<Chain> {
    let entries = wal::entries(run)?;
    let ledger_path = run.join(LEDGER);
    let fail = |e| Error::io("write", &ledger_path, e);
    let ledger = OpenOptions::new().read(true).write(true).open(&ledger_path).map_err(fail)?;
    for entry in &entries {
        for file in &entry.files {
            put(&run.join(&file.path), &file.bytes)?;
        }
        ledger.write_all_at(&entry.ledger, entry.ledger_offset).map_err(fail)?;
    }
    let chain = chain::read(&disk::read(&ledger_path, MAX_DATA)?);
    if chain.torn {
        ledger.set_len(chain.tip.bytes).map_err(fail)?;
    }
    ledger.sync_all().map_err(fail)?;
    disk::remove(&run.join(TRIAL_STAGING))?;
    remove_staged(run)?;
    settle_trials(run, &chain)?;
    disk::remove(&run.join(WAL))?;
    disk::sync(run)?;
    Ok(chain)
}

fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    // A folder renamed into place just before a loss of power may hold files without their content.
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        disk::make_folder(folder)?;
    }
    disk::replace(path, bytes, Durability::Synced)
}

/// Flushes the folders of trials that have ended by the ledger; removes those of trials that never
/// came to that, since their number will be tried again.
fn settle_trials(run: &Path, chain: &Chain) -> Result<()> {
    let ended: HashSet<PathBuf> = chain
        .entries
        .iter()
        .filter_map(|entry| match entry.event {
            LedgerEvent::TrialEnded { number, attempt, .. } => {
                Some(run.join(trial_folder(number, attempt)))
            }
            _ => None,
        })
        .collect();
    let trials = run.join(TRIALS);
    for folder in list(&trials)? {
        if !folder.is_dir() {
            continue;
        }
        if ended.contains(&folder) {
            remove_staged(&folder)?;
            for file in list(&folder)? {
                disk::sync(&file)?;
            }
            disk::sync(&folder)?;
        } else if chain.damage.is_none() && is_trial_folder(&folder) {
            disk::remove(&folder)?;
        }
    }
    disk::sync(&trials)
}

/// Removes files that were never renamed to their name.
fn remove_staged(folder: &Path) -> Result<()> {
    for path in list(folder)? {
        if path.extension().is_some_and(|e| e == "tmp") && path.is_file() {
            disk::remove(&path)?;
        }
    }
    Ok(())
}

/// The paths in a folder.
pub(crate) fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let fail = |e| Error::io("read", folder, e);
    fs::read_dir(folder).map_err(fail)?.map(|entry| entry.map(|e| e.path()).map_err(fail)).collect()
}

/// Whether the name is one that [`trial_folder`] gives.
pub(crate) fn is_trial_folder(folder: &Path) -> bool {
    let name = folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let (number, attempt) = name.split_once('.').unwrap_or((&name, "1"));
    match (number.parse(), attempt.parse()) {
        (Ok(number), Ok(attempt)) => folder.ends_with(trial_folder(number, attempt)),
        _ => false,
    }
}
