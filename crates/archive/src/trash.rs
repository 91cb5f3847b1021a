//! Runs that were deleted and can be restored until their day (UTC) ends: `trash/<run>.<time>`. Deleting and
//! restoring are one rename each; a run's head and notes stay where they are until it is removed for good.

use std::fs;
use std::path::{Path, PathBuf};

use assay_model::{Deleted, RunId};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::archive::Archive;
use crate::create::clear_staging;
use crate::layout::{REMOVED, RUNS, STAGING, TRASH};
use crate::{Error, Result, disk, heads, listing, notes, repair};

/// How the time of deletion is written in the name of a folder.
const TIME: &str = "%Y%m%d-%H%M%S";

/// A folder of the trash.
struct Kept {
    run: RunId,
    at: DateTime,
    folder: PathBuf,
}

impl Kept {
    /// The end of the day on which it was deleted.
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
    /// Deletes a run: it is listed no more, and can be restored until the day (UTC) ends.
    ///
    /// # Errors
    /// `Busy` when its process lives.
    pub fn delete(&self, id: &RunId) -> Result<Deleted> {
        let now = Timestamp::now();
        self.purge(now)?;
        let (folder, mut lock) = self.locked(id)?;
        let trash = self.path().join(TRASH);
        disk::make_folder(&trash)?;
        // Whole seconds, as the name has them.
        let at = Timestamp::from_second(now.as_second()).unwrap_or(now);
        let at = at.to_zoned(TimeZone::UTC).datetime();
        let to = trash.join(format!("{id}.{}", at.strftime(TIME)));
        fs::rename(&folder, &to).map_err(|e| Error::io("delete", &folder, e))?;
        lock.moved_to(&to);
        drop(lock);
        disk::sync(&trash)?;
        disk::sync(&self.path().join(RUNS))?;
        listing::forget(self.path(), id);
        Ok(Kept { run: id.clone(), at, folder: to }.public())
    }

    /// The deleted runs that can be restored, the newest deletion first. Those whose day has ended are
    /// removed for good.
    pub fn deleted(&self) -> Result<Vec<Deleted>> {
        let now = Timestamp::now();
        match self.purge(now) {
            Err(e) if !e.is_unwritable() => return Err(e),
            _ => {}
        }
        let mut kept = self.kept()?;
        kept.retain(|k| k.until() > now);
        kept.sort_by(|a, b| (b.at, &b.run).cmp(&(a.at, &a.run)));
        Ok(kept.iter().map(Kept::public).collect())
    }

    /// Puts a deleted run back. `wanted` is its id, or the unique beginning or end of one; `last` is the one
    /// that was deleted last.
    ///
    /// # Errors
    /// `NotDeleted`, `Ambiguous` with the candidates, or `Exists` when the archive has a run of that id again.
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

    /// Whether the run was deleted and can be restored.
    pub(crate) fn is_in_trash(&self, id: &RunId) -> bool {
        self.kept().is_ok_and(|kept| kept.iter().any(|k| k.run == *id))
    }

    /// Removes for good what was deleted on a day that has ended.
    pub(crate) fn purge(&self, now: Timestamp) -> Result<()> {
        for kept in self.kept()?.into_iter().filter(|k| k.until() <= now) {
            clear_staging(self.path());
            let away = self.path().join(STAGING).join(format!("{}{REMOVED}", kept.run));
            disk::remove(&away)?;
            match fs::rename(&kept.folder, &away) {
                // Another process removes it.
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
                renamed => renamed.map_err(|e| Error::io("remove", &kept.folder, e))?,
            }
            // A run of that id that was imported since keeps what is its own.
            if self.folder_of(&kept.run).is_err() {
                heads::forget(self.path(), &kept.run)?;
                notes::forget(self.path(), &kept.run)?;
            }
            disk::remove(&away)?;
        }
        Ok(())
    }

    fn kept(&self) -> Result<Vec<Kept>> {
        let trash = self.path().join(TRASH);
        if !trash.is_dir() {
            return Ok(Vec::new());
        }
        Ok(repair::list(&trash)?.into_iter().filter_map(|path| kept(&path)).collect())
    }
}

fn kept(path: &Path) -> Option<Kept> {
    let (run, at) = path.file_name()?.to_str()?.split_once('.')?;
    let at = DateTime::strptime(TIME, at).ok()?;
    Some(Kept { run: run.parse().ok()?, at, folder: path.to_owned() })
}
