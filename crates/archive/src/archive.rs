//! The front door.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use assay_model::{LedgerEvent, RunId, RunState, RunSummary};

use crate::create::{Staging, clear_staging};
use crate::disk::{self, Durability};
use crate::filter::Filter;
use crate::identity::NewRun;
use crate::index::Index;
use crate::layout::{INDEX, REMOVED, RUNS, STAGING};
use crate::listing::Unreadable;
use crate::lock::{Held, Lock, Purpose, look};
use crate::notes::Notes;
use crate::reader::RunReader;
use crate::search::{Found, Search};
use crate::writer::RunWriter;
use crate::{Error, Result, create, heads, listing, notes, repair, search};

/// A folder of runs.
#[derive(Debug, Clone)]
pub struct Archive {
    folder: PathBuf,
    durability: Durability,
}

impl Archive {
    /// Where the archive is by default: `$ASSAY_ARCHIVE`, else
    /// `$XDG_DATA_HOME/assay/archive`, else `~/.local/share/assay/archive`.
    ///
    /// # Errors
    /// `NoPlace` when none of the three is set. As the XDG specification has it, a relative
    /// `XDG_DATA_HOME` is ignored.
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

    /// Opens an archive, and makes its folders where they are missing. An archive that exists can be
    /// opened where it cannot be written.
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

    /// The archive without flushes: a lost power may lose what was written. For making archives to
    /// test with.
    #[doc(hidden)]
    #[must_use]
    pub fn unflushed(mut self) -> Self {
        self.durability = Durability::Cached;
        self
    }

    /// The archive's folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Registers a run, before its first trial. Its id is made from the time and chance.
    pub fn create_run(&self, run: &NewRun<'_>) -> Result<RunWriter> {
        create::create(&self.folder, run, self.durability)
    }

    /// Takes up a run that was interrupted, or failed by its own rules; the ledger records it. What
    /// its last writer left half-done is put in order first.
    ///
    /// # Errors
    /// `Busy` when its process lives, `Finished` when it is completed, `Damaged` when its ledger
    /// or records were changed.
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

    /// Opens a run for reading. What a dead writer left half-done is passed over; nothing is written.
    pub fn run(&self, id: &RunId) -> Result<RunReader> {
        RunReader::open(&self.folder_of(id)?, id)
    }

    /// The runs that match, newest first.
    ///
    /// The index answers; where it cannot be used, the files do, which takes longer.
    pub fn list(&self, filter: &Filter) -> Result<Vec<RunSummary>> {
        listing::list(&self.folder, filter)
    }

    /// The sentence that says what came of each run: kept in the index, else made by `make`, which may have none.
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
        // A run that goes on has another one soon; an index that cannot be written keeps none.
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

    /// A page of the runs that are looked for, and how many there are in all.
    ///
    /// The index answers; where it cannot be used, the files do, which takes longer.
    pub fn search(&self, search: &Search) -> Result<Found> {
        search::search(&self.folder, search)
    }

    /// The folders in `runs/` that cannot be read, and so are not listed.
    pub fn unreadable(&self) -> Result<Vec<Unreadable>> {
        listing::unreadable(&self.folder)
    }

    /// What was added to a run after it.
    ///
    /// # Errors
    /// `NoRun`; `Damaged` when the file holds something else.
    pub fn notes(&self, id: &RunId) -> Result<Notes> {
        self.folder_of(id)?;
        notes::read(&self.folder, id)
    }

    /// Changes what was added to a run, on disk when this returns. The run's own files are not touched.
    ///
    /// # Errors
    /// `NoRun`; `Note` when a tag or the note is not one.
    pub fn annotate(&self, id: &RunId, change: impl FnOnce(&mut Notes)) -> Result<Notes> {
        self.folder_of(id)?;
        notes::change(&self.folder, id, change)
    }

    /// A run's line with what was added to it. A file of notes that cannot be read adds nothing;
    /// [`Archive::verify`] reports it.
    #[must_use]
    pub fn annotated(&self, summary: RunSummary) -> RunSummary {
        notes::lay_over(&self.folder, summary)
    }

    /// Makes the index anew from the runs. Returns how many it lists.
    pub fn reindex(&self) -> Result<usize> {
        Index::delete(&self.folder.join(INDEX))?;
        let mut index = Index::open(&self.folder.join(INDEX))?;
        listing::refresh(&self.folder, &mut index)?;
        let mut count = 0;
        index.newest_first(|_| {
            count += 1;
            true
        })?;
        Ok(count)
    }

    /// The run that is meant: `last`, an id, or the unique beginning or end of one.
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

    /// Deletes a run for good.
    ///
    /// # Errors
    /// `Busy` when its process lives.
    pub fn remove(&self, id: &RunId) -> Result<()> {
        let (folder, lock) = self.locked(id)?;
        clear_staging(&self.folder);
        // Renamed first, so that no reader sees a part of it.
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

    /// A run's folder and the lock on it, for a process that changes it.
    pub(crate) fn locked(&self, id: &RunId) -> Result<(PathBuf, Lock)> {
        let folder = self.folder_of(id)?;
        let lock = Lock::take(&folder, Purpose::Write)?.map_err(|owner| Error::Busy {
            run: id.clone(),
            owner,
            lock: folder.join(crate::layout::LOCK),
        })?;
        Ok((folder, lock))
    }

    /// The ids of all runs, oldest first.
    pub(crate) fn ids(&self) -> Result<Vec<RunId>> {
        let mut ids: Vec<RunId> =
            listing::names(&self.folder)?.iter().filter_map(|name| name.parse().ok()).collect();
        ids.sort();
        Ok(ids)
    }

    /// A place for a run that is being imported. `None` when another process imports it.
    pub(crate) fn stage(&self, id: &RunId) -> Result<Option<Staging>> {
        clear_staging(&self.folder);
        Staging::make(&self.folder, id.as_str(), Purpose::Import)
    }

    /// The folder of a run that exists.
    pub(crate) fn folder_of(&self, id: &RunId) -> Result<PathBuf> {
        let folder = self.folder.join(RUNS).join(id.as_str());
        if folder.is_dir() {
            Ok(folder)
        } else {
            Err(Error::NoRun { wanted: id.to_string(), archive: self.folder.clone() })
        }
    }

    /// Whether a living process writes the run.
    pub(crate) fn is_being_written(folder: &Path) -> bool {
        matches!(look(folder), Held::Alive(Purpose::Write, _))
    }

    /// The run that this archive wrote last, else, as after its removal, the one that started last by its id. Clocks that
    /// were wrong make ids that stay the greatest for days.
    fn last(&self, ids: &[RunId]) -> Option<RunId> {
        let written = heads::newest(&self.folder);
        ids.iter().find(|id| Some(*id) == written.as_ref()).or(ids.last()).cloned()
    }
}
