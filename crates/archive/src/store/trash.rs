//! Deleted runs that can be restored until the end of the day (UTC) of their deletion:
//! `trash/<run>.<time>`. Deleting and restoring are one rename each; a run's head and notes stay in
//! place until it is removed permanently.

use std::fs;
use std::path::{Path, PathBuf};

use assay_model::{Deleted, RunId};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::format::disk;
use crate::format::layout::{REMOVED, RUNS, STAGING, TRASH};
use crate::store::create::clear_staging;
use crate::store::folder::Archive;
use crate::store::repair;
use crate::store::{heads, listing, notes};
use crate::{Error, Result};

/// Format of the time of deletion in a folder's name.
const TIME: &str = "%Y%m%d-%H%M%S";

/// A run's folder in the trash.
struct TrashedRun {
    run: RunId,
    at: DateTime,
    folder: PathBuf,
}

impl TrashedRun {
    /// Returns the end of the day on which the run was deleted.
    fn until(&self) -> Timestamp {
        let day = self.at.date().tomorrow().unwrap_or(self.at.date());
        utc(day.to_datetime(jiff::civil::Time::midnight()))
    }

    fn public(&self) -> Deleted {
        let identity = crate::RunIdentity::read(&self.folder, &self.run);
        Deleted {
            run: self.run.clone(),
            experiment: identity.map(|i| i.experiment).unwrap_or_default(),
            deleted_at: utc(self.at).to_string(),
            until: self.until().to_string(),
        }
    }
}

fn utc(at: DateTime) -> Timestamp {
    at.to_zoned(TimeZone::UTC).map(|z| z.timestamp()).unwrap_or_default()
}

impl Archive {
    /// Deletes a run: it is no longer listed and can be restored until the end of the day (UTC).
    ///
    /// # Errors
    /// `Busy` if the process that writes the run is alive.
    pub fn delete(&self, id: &RunId) -> Result<Deleted> {
        let now = Timestamp::now();
        self.purge(now)?;
        let (folder, mut lock) = self.locked(id)?;
        let trash = self.path().join(TRASH);
        disk::make_folder(&trash)?;
        // Whole seconds, as in the folder's name.
        let at = Timestamp::from_second(now.as_second()).unwrap_or(now);
        let at = at.to_zoned(TimeZone::UTC).datetime();
        let to = trash.join(format!("{id}.{}", at.strftime(TIME)));
        fs::rename(&folder, &to).map_err(|e| Error::io("delete", &folder, e))?;
        lock.moved_to(&to);
        drop(lock);
        disk::sync(&trash)?;
        disk::sync(&self.path().join(RUNS))?;
        listing::forget(self.path(), id);
        Ok(TrashedRun { run: id.clone(), at, folder: to }.public())
    }

    /// Returns the deleted runs that can be restored, latest deletion first. Permanently removes
    /// those whose day has ended.
    pub fn deleted(&self) -> Result<Vec<Deleted>> {
        let now = Timestamp::now();
        match self.purge(now) {
            Err(e) if !e.is_unwritable() => return Err(e),
            _ => {}
        }
        let mut kept = self.kept()?;
        kept.retain(|k| k.until() > now);
        kept.sort_by(|a, b| (b.at, &b.run).cmp(&(a.at, &a.run)));
        Ok(kept.iter().map(TrashedRun::public).collect())
    }

    /// Restores a deleted run. `wanted` is its id or a unique prefix or suffix of it; `last` is the
    /// run that was deleted last.
    ///
    /// # Errors
    /// `NotDeleted`, `Ambiguous` with the candidates, or `Exists` if the archive has a run with
    /// this id again.
    pub fn restore(&self, wanted: &str) -> Result<RunId> {
        let none = || Error::NotDeleted { wanted: wanted.to_owned() };
        let deleted = self.deleted()?;
        let mut found: Vec<RunId> = deleted.into_iter().map(|d| d.run).collect();
        if wanted == "last" {
            found.truncate(1);
        } else {
            found.retain(|id| id.as_str().starts_with(wanted) || id.as_str().ends_with(wanted));
        }
        let id = match found.len() {
            0 => return Err(none()),
            _ if wanted.is_empty() => return Err(none()),
            1 => found.remove(0),
            _ => {
                return Err(Error::Ambiguous { wanted: wanted.to_owned(), candidates: found });
            }
        };
        let folder = self.path().join(RUNS).join(id.as_str());
        if folder.exists() {
            return Err(Error::Exists { path: folder });
        }
        let kept = self.kept()?.into_iter().find(|k| k.run == id).ok_or_else(none)?;
        fs::rename(&kept.folder, &folder).map_err(|e| Error::io("restore", &kept.folder, e))?;
        disk::sync(&self.path().join(RUNS))?;
        disk::sync(&self.path().join(TRASH))?;
        Ok(id)
    }

    /// True if the run was deleted and can be restored.
    pub(crate) fn is_in_trash(&self, id: &RunId) -> bool {
        self.kept().is_ok_and(|kept| kept.iter().any(|k| k.run == *id))
    }

    /// Permanently removes runs that were deleted on a day that has ended.
    pub(crate) fn purge(&self, now: Timestamp) -> Result<()> {
        for kept in self.kept()?.into_iter().filter(|k| k.until() <= now) {
            clear_staging(self.path());
            let away = self.path().join(STAGING).join(format!("{}{REMOVED}", kept.run));
            disk::remove(&away)?;
            match fs::rename(&kept.folder, &away) {
                // Another process is removing it.
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
                renamed => renamed.map_err(|e| Error::io("remove", &kept.folder, e))?,
            }
            // A run with the same id that was imported since then keeps its head and notes.
            if self.folder_of(&kept.run).is_err() {
                heads::forget(self.path(), &kept.run)?;
                notes::forget(self.path(), &kept.run)?;
            }
            disk::remove(&away)?;
        }
        Ok(())
    }

    fn kept(&self) -> Result<Vec<TrashedRun>> {
        let trash = self.path().join(TRASH);
        if !trash.is_dir() {
            return Ok(Vec::new());
        }
        Ok(repair::list(&trash)?.into_iter().filter_map(|path| kept(&path)).collect())
    }
}

fn kept(path: &Path) -> Option<TrashedRun> {
    let (run, at) = path.file_name()?.to_str()?.split_once('.')?;
    let at = DateTime::strptime(TIME, at).ok()?;
    Some(TrashedRun { run: run.parse().ok()?, at, folder: path.to_owned() })
}
