//! The archive: the crate's main type.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use assay_model::{LedgerEvent, RunId, RunState, RunSummary};

use crate::format::disk::{self, Durability};
use crate::format::identity::NewRun;
use crate::format::layout::{INDEX, REMOVED, RUNS, STAGING};
use crate::store::create::{Staging, clear_staging};
use crate::store::index::Index;
use crate::store::listing::Unreadable;
use crate::store::lock::{Lock, LockPurpose, LockState, read_state};
use crate::store::notes::Notes;
use crate::store::reader::RunReader;
use crate::store::repair;
use crate::store::search::{Search, SearchPage};
use crate::store::writer::RunWriter;
use crate::store::{create, heads, listing, notes, search};
use crate::{Error, Result};

/// A folder that holds runs.
#[derive(Debug, Clone)]
pub struct Archive {
    folder: PathBuf,
    durability: Durability,
}

impl Archive {
    /// Returns the default folder of the archive: `$ASSAY_ARCHIVE`, else
    /// `$XDG_DATA_HOME/assay/archive`, else `~/.local/share/assay/archive`.
    ///
    /// # Errors
    /// `NoPlace` if none of the three variables is set. A relative `XDG_DATA_HOME` is ignored, as
    /// the XDG specification demands.
    pub fn default_path() -> Result<PathBuf> {
        let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        if let Some(path) = set("ASSAY_ARCHIVE") {
            return Ok(path);
        }
        set("XDG_DATA_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| set("HOME").map(|home| home.join(".local/share")))
            .map(|data| data.join("assay/archive"))
            .ok_or(Error::NoPlace)
    }

    /// Opens an archive and creates missing folders. An existing archive can also be opened on a
    /// read-only file system.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self> {
        let folder = folder.into();
        for name in [RUNS, STAGING] {
            let path = folder.join(name);
            if !path.is_dir() {
                match disk::make_folder(&path) {
                    Err(e) if e.is_unwritable() && folder.join(RUNS).is_dir() => {}
                    made => made?,
                }
            }
        }
        Ok(Archive { folder, durability: Durability::Synced })
    }

    /// Returns the archive with flushing turned off: a power failure may lose written data. Only
    /// for making archives to test with.
    #[doc(hidden)]
    #[must_use]
    pub fn unflushed(mut self) -> Self {
        self.durability = Durability::Cached;
        self
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Registers a run before its first trial. The run's id consists of the time and random digits.
    pub fn create_run(&self, run: &NewRun<'_>) -> Result<RunWriter> {
        create::create(&self.folder, run, self.durability)
    }

    /// Resumes a run that was interrupted or that failed by its own rules, and records this in the
    /// ledger. First repairs what the previous writer left incomplete.
    ///
    /// # Errors
    /// `Busy` if the process that writes the run is alive, `Finished` if the run is completed,
    /// `Damaged` if its ledger or records were changed.
    pub fn resume(&self, id: &RunId) -> Result<RunWriter> {
        let (folder, lock) = self.locked(id)?;
        if RunReader::open(&folder, id)?.state() == RunState::Completed {
            return Err(Error::Finished { run: id.clone() });
        }
        let settled = repair::settle(&self.folder, id, self.durability)?;
        let known = (settled.tip, settled.recorded);
        let mut writer = RunWriter::open(id.clone(), &self.folder, lock, known, self.durability)?;
        for event in settled.lacking {
            writer.ledger(event)?;
        }
        writer.ledger(LedgerEvent::Resumed)?;
        writer.flush_ledger()?;
        Ok(writer)
    }

    /// Opens a run for reading. Skips what a writer that died left incomplete; writes nothing.
    pub fn run(&self, id: &RunId) -> Result<RunReader> {
        RunReader::open(&self.folder_of(id)?, id)
    }

    /// Returns the runs that match, as [`Archive::search`] does.
    pub fn list(&self, search: &Search) -> Result<Vec<RunSummary>> {
        Ok(self.search(search)?.runs)
    }

    /// Returns a sentence with the result of each run: from the index if it is there, else from
    /// `make`. The sentence is empty if `make` returns `None`.
    pub fn headlines(
        &self,
        runs: &[RunSummary],
        make: impl Fn(&RunId) -> Option<String>,
    ) -> BTreeMap<RunId, String> {
        let kept = listing::with_index(&self.folder, Index::headlines).unwrap_or_default();
        let known = |run: &RunSummary| kept.get(run.id.as_str()).cloned();
        let text = |run| known(run).or_else(|| make(&run.id)).unwrap_or_default();
        let all: BTreeMap<RunId, String> =
            runs.iter().map(|run| (run.id.clone(), text(run))).collect();
        // The sentence of an unfinished run will change soon, so it is not stored. An index that
        // cannot be written stores none either.
        let new = runs.iter().filter(|r| r.state != RunState::Started && known(r).is_none());
        let new: Vec<&RunId> = new.map(|run| &run.id).collect();
        let keep = |index: &Index| {
            new.iter().try_for_each(|id| index.keep_headline(id.as_str(), &all[*id]))
        };
        if !new.is_empty() {
            let _ = listing::with_index(&self.folder, keep);
        }
        all
    }

    /// Returns one page of the runs that match, and the number of all matches.
    ///
    /// Uses the index; if the index is unusable, reads the runs' files, which takes longer.
    pub fn search(&self, search: &Search) -> Result<SearchPage> {
        search::search(&self.folder, search)
    }

    /// Returns the folders in `runs/` that cannot be read and are therefore not listed.
    pub fn unreadable(&self) -> Result<Vec<Unreadable>> {
        listing::unreadable(&self.folder)
    }

    /// Returns the notes and tags that were added to a run after it ended.
    ///
    /// # Errors
    /// `NoRun` if there is no such run; `Damaged` if the file does not hold valid notes.
    pub fn notes(&self, id: &RunId) -> Result<Notes> {
        self.folder_of(id)?;
        notes::read(&self.folder, id)
    }

    /// Changes the notes and tags of a run. The change is on disk when this returns; the run's own
    /// files are not touched.
    ///
    /// # Errors
    /// `NoRun` if there is no such run; `Note` if a tag or the note is invalid.
    pub fn annotate(&self, id: &RunId, change: impl FnOnce(&mut Notes)) -> Result<Notes> {
        self.folder_of(id)?;
        notes::change(&self.folder, id, change)
    }

    /// Adds a run's notes and tags to its summary. A notes file that cannot be read adds nothing;
    /// [`Archive::verify`] reports it.
    #[must_use]
    pub fn annotated(&self, summary: RunSummary) -> RunSummary {
        notes::lay_over(&self.folder, summary)
    }

    /// Rebuilds the index from the runs and returns the number of runs in it.
    pub fn reindex(&self) -> Result<usize> {
        Index::delete(&self.folder.join(INDEX))?;
        let mut index = Index::open(&self.folder.join(INDEX))?;
        listing::refresh(&self.folder, &mut index)?;
        drop(index);
        Ok(self.search(&Search { limit: Some(0), ..Search::default() })?.total)
    }

    /// Resolves a reference to a run: `last`, an id, or a unique prefix or suffix of an id.
    ///
    /// # Errors
    /// `NoRun`, or `Ambiguous` with the candidates.
    pub fn resolve(&self, wanted: &str) -> Result<RunId> {
        let none = || Error::NoRun { wanted: wanted.to_owned(), archive: self.folder.clone() };
        let ids = self.ids()?;
        if wanted == "last" {
            return self.last(&ids).ok_or_else(none);
        }
        let mut candidates: Vec<RunId> = ids
            .into_iter()
            .filter(|id| id.as_str().starts_with(wanted) || id.as_str().ends_with(wanted))
            .collect();
        match (candidates.len(), wanted.is_empty()) {
            (0, _) | (_, true) => Err(none()),
            (1, _) => Ok(candidates.remove(0)),
            _ => Err(Error::Ambiguous { wanted: wanted.to_owned(), candidates }),
        }
    }

    /// Deletes a run permanently.
    ///
    /// # Errors
    /// `Busy` if the process that writes the run is alive.
    pub fn remove(&self, id: &RunId) -> Result<()> {
        let (folder, lock) = self.locked(id)?;
        clear_staging(&self.folder);
        // Renamed first, so that no reader sees a partly deleted run.
        let away = self.folder.join(STAGING).join(format!("{id}{REMOVED}"));
        disk::remove(&away)?;
        fs::rename(&folder, &away).map_err(|e| Error::io("remove", &folder, e))?;
        drop(lock);
        disk::sync(&self.folder.join(RUNS))?;
        heads::forget(&self.folder, id)?;
        notes::forget(&self.folder, id)?;
        listing::forget(&self.folder, id);
        disk::remove(&away)
    }

    /// Returns a run's folder and the lock on it, for a process that changes the run.
    pub(crate) fn locked(&self, id: &RunId) -> Result<(PathBuf, Lock)> {
        let folder = self.folder_of(id)?;
        let lock = Lock::take(&folder, LockPurpose::Write)?.map_err(|owner| Error::Busy {
            run: id.clone(),
            owner,
            lock: folder.join(crate::format::layout::LOCK),
        })?;
        Ok((folder, lock))
    }

    /// Returns the ids of all runs, oldest first.
    pub(crate) fn ids(&self) -> Result<Vec<RunId>> {
        let mut ids: Vec<RunId> =
            listing::names(&self.folder)?.iter().filter_map(|name| name.parse().ok()).collect();
        ids.sort();
        Ok(ids)
    }

    /// Creates the staging folder of a run that is being imported. Returns `None` if another
    /// process imports the same run.
    pub(crate) fn stage(&self, id: &RunId) -> Result<Option<Staging>> {
        clear_staging(&self.folder);
        Staging::make(&self.folder, id.as_str(), LockPurpose::Import)
    }

    /// Returns the folder of a run, or an error if the run does not exist.
    pub(crate) fn folder_of(&self, id: &RunId) -> Result<PathBuf> {
        let folder = self.folder.join(RUNS).join(id.as_str());
        if folder.is_dir() {
            Ok(folder)
        } else {
            Err(Error::NoRun { wanted: id.to_string(), archive: self.folder.clone() })
        }
    }

    /// True if a living process is writing the run.
    pub(crate) fn is_being_written(folder: &Path) -> bool {
        matches!(read_state(folder), LockState::Alive(LockPurpose::Write, _))
    }

    /// Returns the run that this archive wrote last. If that run is unknown or was removed, returns
    /// the run with the latest start time in its id: second best, because a clock that was wrong
    /// makes ids that stay the latest for days.
    fn last(&self, ids: &[RunId]) -> Option<RunId> {
        let written = heads::newest(&self.folder);
        ids.iter().find(|id| Some(*id) == written.as_ref()).or(ids.last()).cloned()
    }
}
