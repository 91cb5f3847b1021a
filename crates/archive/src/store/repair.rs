//! Repairs a run that its writer left behind (kill -9, a full disk, a power failure) before the run
//! is resumed. Readers do not need this; they skip whatever is torn or left over.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use assay_model::{FileHash, LedgerEvent, RunId, TrialRecord};

use crate::format::chain::{self, Chain, Tip};
use crate::format::disk::{self, Durability, MAX_DATA};
use crate::format::layout::{LEDGER, RECORDS, REPLACED, RUNS, TRIALS, staged, trial_folder};
use crate::format::records;
use crate::store::account::{Account, AttemptKey, EntryStatus};
use crate::store::heads::{self, Head, HeadComparison};
use crate::{Error, Result};

/// State of a run after its repair.
#[derive(Debug)]
pub(crate) struct RepairedRun {
    /// The end of the run's ledger.
    pub tip: Tip,
    /// The trials that have a record.
    pub recorded: HashSet<AttemptKey>,
    /// Events to add to the ledger: the loss of entries, and the ends of trials whose records
    /// exist.
    pub lacking: Vec<LedgerEvent>,
}

/// Cuts torn tails off the ledger and the records, completes the replacement of a file, removes
/// staging files, and writes the head of a ledger that has none. It may be repeated, or killed at
/// any point. The caller holds the lock.
///
/// # Errors
/// `Damaged` or `Newer` if more than the tails is wrong; then nothing is changed.
pub(crate) fn settle(archive: &Path, id: &RunId, durability: Durability) -> Result<RepairedRun> {
    let run = &archive.join(RUNS).join(id.as_str());
    let (ledger, record_file) = (run.join(LEDGER), run.join(RECORDS));
    let chain = chain::read(&disk::read(&ledger, MAX_DATA)?);
    chain.check(&ledger)?;
    let lost = lost(&chain, archive, id)?;
    let account = Account::from_entries(&chain.entries);
    let (mut recorded, mut lacking) = (HashSet::new(), Vec::new());
    let end = records::read_file(&record_file, |line, record: TrialRecord| {
        let key = (record.number, record.attempt);
        let record_sha256 = disk::sha256(line);
        recorded.insert(key);
        match account.status(key, &record_sha256) {
            // Only the last records can be missing from the ledger.
            EntryStatus::Entered => lacking.clear(),
            EntryStatus::Changed => {}
            EntryStatus::NotEntered => lacking.push((key, record.outcome, record_sha256)),
        }
    })?;
    end.check(&record_file)?;
    if account.has_ended() {
        lacking.clear(); // a record after the end is not the writer's
    }
    if chain.torn {
        cut(&ledger, chain.tip.bytes)?;
    }
    if end.torn {
        cut(&record_file, end.bytes)?;
    }
    for name in REPLACED {
        if chain.staged(run, name)?.is_some() {
            let staged = run.join(staged(name));
            fs::rename(&staged, run.join(name)).map_err(|e| Error::io("rename", &staged, e))?;
        }
    }
    for path in leftovers(run, &recorded)? {
        disk::remove(&path)?;
    }
    if durability == Durability::Synced {
        flush_all(run)?;
    }
    // An existing head keeps counting the lost entries until the ledger records the loss.
    if heads::read(archive, id)?.is_none() {
        heads::put(archive, id, &Head::flushed(&chain.tip), durability)?;
    }
    let lost = lost.map(|entries| Ok(LedgerEvent::EntriesLost { entries }));
    let ended = lacking.into_iter().map(|(key, outcome, record_sha256)| {
        let (number, attempt) = key;
        let files = Some(files_of(&run.join(trial_folder(number, attempt)))?);
        Ok(LedgerEvent::TrialEnded { number, attempt, outcome, record_sha256, files })
    });
    let lacking = lost.into_iter().chain(ended).collect::<Result<_>>()?;
    Ok(RepairedRun { tip: chain.tip, recorded, lacking })
}

/// Returns the number of entries at the end of the ledger that a power failure may have taken.
///
/// # Errors
/// `Damaged` if no crash of a writer can explain the state of the ledger.
fn lost(chain: &Chain, archive: &Path, id: &RunId) -> Result<Option<u64>> {
    let ledger = archive.join(RUNS).join(id.as_str()).join(LEDGER);
    match heads::read(archive, id)?.map(|head| head.against(chain)) {
        None if chain.has_all_files() => {
            let reason =
                "it was removed, and the end of the run's ledger cannot be checked without it";
            Err(Error::damaged(&heads::path(archive, id), reason))
        }
        None | Some(HeadComparison::Agrees | HeadComparison::GoesOn(_)) => Ok(None),
        Some(HeadComparison::Lost(entries)) => Ok(Some(entries)),
        Some(against) => Err(Error::damaged(&ledger, against)),
    }
}

/// Hashes the files in a trial's folder; empty if there is no folder.
fn files_of(folder: &Path) -> Result<Vec<FileHash>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = list(folder)?;
    paths.sort();
    let file = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        disk::hash_file(&name, &path)
    };
    paths.into_iter().map(file).collect()
}

fn cut(path: &Path, bytes: u64) -> Result<()> {
    OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|file| file.set_len(bytes))
        .map_err(|e| Error::io("write", path, e))
}

/// Flushes the whole file system, and so every trial that the dead writer had not flushed.
fn flush_all(run: &Path) -> Result<()> {
    let flush = || rustix::fs::syncfs(File::open(run)?).map_err(std::io::Error::from);
    flush().map_err(|e| Error::io("flush", run, e))
}

/// Returns the leftovers of a dead process in a run's folder: files and folders that were never
/// renamed to their final name (all end in `.tmp`), and folders of trials without a record.
pub(crate) fn leftovers(run: &Path, recorded: &HashSet<AttemptKey>) -> Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> = list(run)?.into_iter().filter(|path| is_staged(path)).collect();
    let no_record = |path: &PathBuf| trial_of(path).is_some_and(|key| !recorded.contains(&key));
    let trials = run.join(TRIALS);
    if trials.is_dir() {
        found.extend(list(&trials)?.into_iter().filter(no_record));
    }
    found.sort();
    Ok(found)
}

/// True if the path is a staging file or folder that was never renamed to its final name.
pub(crate) fn is_staged(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "tmp")
}

/// Returns the paths in a folder.
pub(crate) fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let fail = |e| Error::io("read", folder, e);
    fs::read_dir(folder).map_err(fail)?.map(|entry| entry.map(|e| e.path()).map_err(fail)).collect()
}

/// Returns the files in a folder of one file for each run, with their runs; the run is `None` for a
/// file whose name is not a run's.
pub(crate) fn files_of_runs(folder: &Path) -> Result<Vec<(PathBuf, Option<RunId>)>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let files = list(folder)?;
    let run_of = |path: &Path| path.file_name()?.to_str()?.strip_suffix(".json")?.parse().ok();
    let runs: Vec<Option<RunId>> = files.iter().map(|path| run_of(path)).collect();
    Ok(files.into_iter().zip(runs).collect())
}

/// Returns the trial that a folder belongs to; `None` if [`trial_folder`] does not make such a
/// name.
pub(crate) fn trial_of(folder: &Path) -> Option<AttemptKey> {
    let name = folder.file_name()?.to_str()?;
    let (number, attempt) = name.split_once('.').unwrap_or((name, "1"));
    let key = (number.parse().ok()?, attempt.parse().ok()?);
    folder.ends_with(trial_folder(key.0, key.1)).then_some(key)
}
