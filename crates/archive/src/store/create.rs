//! Creates a new run: assembled in `tmp/`, flushed, then renamed into `runs/` as a whole.

use std::collections::HashSet;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

use assay_model::{LedgerEvent, RunId};

use crate::format::chain::Tip;
use crate::format::disk::{self, Durability};
use crate::format::identity::{NewRun, RunIdentity};
use crate::format::layout::{
    EXPERIMENT, IDENTITY, LEDGER, PLAN, RECORDS, REMOVED, RUNS, STAGING, SYSTEM, TRIALS,
};
use crate::store::heads::{self, Head};
use crate::store::lock::{Lock, LockPurpose, LockState, read_state};
use crate::store::writer::RunWriter;
use crate::{Error, Result};

/// A folder in `tmp/` that this process holds; removed on drop unless it was published.
#[derive(Debug)]
pub(crate) struct Staging {
    pub(crate) folder: PathBuf,
    lock: Option<Lock>,
}

impl Staging {
    /// Makes `tmp/NAME`, or returns `None` if another process holds it.
    pub(crate) fn make(archive: &Path, name: &str, purpose: LockPurpose) -> Result<Option<Self>> {
        let folder = archive.join(STAGING).join(name);
        if read_state(&folder) == LockState::Dead {
            disk::remove(&folder)?;
        }
        match fs::create_dir(&folder) {
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => return Ok(None),
            made => made.map_err(|e| Error::io("create", &folder, e))?,
        }
        match Lock::take(&folder, purpose) {
            Ok(Ok(lock)) => Ok(Some(Staging { folder, lock: Some(lock) })),
            Ok(Err(_)) => Ok(None),
            Err(error) => {
                let _ = disk::remove(&folder);
                Err(error)
            }
        }
    }

    /// Stores the head of the run's ledger and renames the folder to `runs/ID`, completely or not
    /// at all. Returns `None` if that run exists already.
    pub(crate) fn publish(
        mut self,
        archive: &Path,
        id: &RunId,
        head: &Head,
        durability: Durability,
    ) -> Result<Option<Lock>> {
        let target = archive.join(RUNS).join(id.as_str());
        // The staging folder's name holds the id, so no other process can create the target between
        // this check and the rename.
        if target.exists() {
            return Ok(None);
        }
        // The head comes first, because a run without a head counts as having lost it.
        let published = heads::put(archive, id, head, durability).and_then(|()| {
            fs::rename(&self.folder, &target).map_err(|e| Error::io("rename", &self.folder, e))
        });
        if let Err(error) = published {
            let _ = heads::forget(archive, id);
            return Err(error);
        }
        if let Some(lock) = &mut self.lock {
            lock.moved_to(&target);
        }
        if durability == Durability::Synced {
            disk::sync(&archive.join(RUNS))?;
        }
        Ok(self.lock.take())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if self.lock.take().is_some() {
            let _ = disk::remove(&self.folder);
        }
    }
}

/// Removes leftovers of dead processes from `tmp/`.
pub(crate) fn clear_staging(archive: &Path) {
    let Ok(entries) = fs::read_dir(archive.join(STAGING)) else { return };
    for entry in entries.flatten() {
        // The minimum age covers the moment between the creation of a folder and of its lock.
        let old = entry
            .metadata()
            .and_then(|m| m.modified())
            .is_ok_and(|t| t.elapsed().is_ok_and(|age| age.as_secs() > 60));
        if old && !matches!(read_state(&entry.path()), LockState::Alive(..)) {
            if let Some(id) = staged_run(&entry.path())
                && !archive.join(RUNS).join(id.as_str()).exists()
                && heads::forget(archive, &id).is_err()
            {
                continue;
            }
            let _ = disk::remove(&entry.path());
        }
    }
}

/// Returns the id of the run that a folder in `tmp/` was to become, or used to be.
pub(crate) fn staged_run(folder: &Path) -> Option<RunId> {
    folder.file_name()?.to_str()?.trim_end_matches(REMOVED).parse().ok()
}

/// Makes an id for a run that starts now: the time in seconds and four random digits.
fn draw_id(now: jiff::Timestamp) -> RunId {
    let time = now.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y%m%d-%H%M%S").to_string();
    let chance = RandomState::new().build_hasher().finish() as u16;
    format!("{time}-{chance:04x}").parse().expect("the format above is that of an id")
}

/// Registers a run. Its files, its first ledger entry and its lock are durable when this returns.
pub(crate) fn create(
    archive: &Path,
    run: &NewRun<'_>,
    durability: Durability,
) -> Result<RunWriter> {
    clear_staging(archive);
    loop {
        let now = jiff::Timestamp::now();
        let id = draw_id(now);
        if archive.join(RUNS).join(id.as_str()).exists() {
            continue;
        }
        let Some(staging) = Staging::make(archive, id.as_str(), LockPurpose::Write)? else {
            continue;
        };
        let identity = RunIdentity::new(id.clone(), format!("{now:.3}"), run);
        let tip = fill(&staging.folder, &identity, run, durability)?;
        if let Some(lock) = staging.publish(archive, &id, &Head::flushed(&tip), durability)? {
            let known = (tip, HashSet::new());
            return RunWriter::open(id, archive, lock, known, durability);
        }
    }
}

fn fill(
    folder: &Path,
    identity: &RunIdentity,
    run: &NewRun<'_>,
    durability: Durability,
) -> Result<Tip> {
    let put = |name: &str, bytes: &[u8]| disk::write_new(&folder.join(name), bytes, durability);
    let plan = disk::to_json(run.plan, &folder.join(PLAN))?;
    let identified = disk::to_json(identity, &folder.join(IDENTITY))?;
    let system = disk::to_json(run.system, &folder.join(SYSTEM))?;
    put(IDENTITY, &identified)?;
    put(EXPERIMENT, run.experiment_toml.as_bytes())?;
    put(PLAN, &plan)?;
    put(SYSTEM, &system)?;
    let mut tip = Tip::default();
    let planned = LedgerEvent::Planned {
        experiment_sha256: disk::sha256(run.experiment_toml.as_bytes()),
        plan_sha256: disk::sha256(&plan),
        stop_rule: run.stop_rule.to_owned(),
        assay: identity.assay.clone(),
        files: vec![disk::hash_of(IDENTITY, &identified), disk::hash_of(SYSTEM, &system)],
    };
    let line =
        tip.line(planned).map_err(|e| Error::damaged(&folder.join(LEDGER), e.to_string()))?;
    put(LEDGER, &line)?;
    put(RECORDS, &[])?;
    disk::make_folder(&folder.join(TRIALS))?;
    if durability == Durability::Synced {
        disk::sync(folder)?;
    }
    Ok(tip)
}
