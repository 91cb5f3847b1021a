//! Lists runs: from the index after updating it, or from the runs' files if the index is unusable.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use assay_model::{RunId, RunState};

use crate::format::layout::{INDEX, LEDGER, NOTES, RUNS};
use crate::store::index::{Index, IndexedFolder, Update, is_damaged};
use crate::store::lock::read_state;
use crate::store::notes;
use crate::store::reader::RunReader;
use crate::{Error, Result};

/// Returns the folders that cannot be read.
pub(crate) fn unreadable(archive: &Path) -> Result<Vec<Unreadable>> {
    let pair = |(id, reason)| Unreadable { id, reason };
    match with_index(archive, Index::unreadable) {
        Ok(found) => Ok(found.into_iter().map(pair).collect()),
        Err(Error::Index { .. }) => Ok(names(archive)?
            .into_iter()
            .filter_map(|name| read(archive, &name).found.err().map(|reason| pair((name, reason))))
            .collect()),
        Err(error) => Err(error),
    }
}

/// Opens the index, updates it and queries it; rebuilds a damaged index once.
pub(crate) fn with_index<T>(archive: &Path, mut ask: impl FnMut(&Index) -> Result<T>) -> Result<T> {
    let path = archive.join(INDEX);
    let mut once = || {
        let mut index = Index::open(&path)?;
        refresh(archive, &mut index)?;
        ask(&index)
    };
    match once() {
        Err(Error::Index { source, .. }) if is_damaged(&source) => {
            Index::delete(&path)?;
            once()
        }
        other => other,
    }
}

/// Updates the index with the folders that appeared, disappeared or changed since they were read.
pub(crate) fn refresh(archive: &Path, index: &mut Index) -> Result<()> {
    let listing = listing_look(archive);
    let unchanged = listing.is_some() && index.listing()? == listing;
    let known = index.folders(unchanged)?;
    let mut gone = Vec::new();
    let mut stale = Vec::new();
    if unchanged {
        stale.extend(known.iter().filter(|f| look_of(archive, &f.id) != f.look));
    }
    let stale: Vec<String> = stale.into_iter().map(|f| f.id.clone()).collect();
    let mut to_read = stale;
    if !unchanged {
        let annotated = notes::names(archive);
        // Most runs have no notes, and listing the folder once costs less than a stat for each run.
        let notes = |name: &str| {
            let look = annotated.contains(name).then(|| notes::look_of(archive, name));
            format!(" {}", look.unwrap_or_else(|| "-".to_owned()))
        };
        let mut known: HashMap<String, IndexedFolder> =
            known.into_iter().map(|f| (f.id.clone(), f)).collect();
        for name in names(archive)? {
            let same = known.remove(&name).is_some_and(|f| {
                if f.settled {
                    f.look.ends_with(&notes(&name))
                } else {
                    f.look == look_of(archive, &name)
                }
            });
            if !same {
                to_read.push(name);
            }
        }
        gone.extend(known.into_keys());
    }
    if to_read.is_empty() && gone.is_empty() && (unchanged || listing.is_none()) {
        return Ok(());
    }
    let changed: Vec<Update> = to_read.iter().map(|name| read(archive, name)).collect();
    index.update(&gone, &changed, listing.as_deref())
}

/// Removes a deleted run from the index, so that another run with the same id is not mistaken for
/// it. Errors are ignored, because the index is only a cache.
pub(crate) fn forget(archive: &Path, id: &RunId) {
    let path = archive.join(INDEX);
    if path.exists()
        && let Ok(mut index) = Index::open(&path)
    {
        let _ = index.update(&[id.to_string()], &[], None);
    }
}

/// Returns the names of the folders in `runs/`.
pub(crate) fn names(archive: &Path) -> Result<Vec<String>> {
    let runs = archive.join(RUNS);
    let fail = |e| Error::io("read", &runs, e);
    let mut names = Vec::new();
    for entry in fs::read_dir(&runs).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

pub(crate) fn read(archive: &Path, name: &str) -> Update {
    // Take the fingerprint before reading, so that a change during the read makes the next
    // fingerprint differ.
    let look = look_of(archive, name);
    let summary = || {
        let id: RunId = RunId::try_from(name.to_owned()).map_err(|e| e.to_string())?;
        RunReader::open(&archive.join(RUNS).join(name), &id)
            .and_then(|run| Ok((notes::lay_over(archive, run.summary()?), factors(&run.plan()?))))
            .map_err(|e| e.to_string())
    };
    let found = summary();
    // A completed run cannot be resumed, so its files no longer change.
    let settled = found.as_ref().is_ok_and(|(run, _)| run.state == RunState::Completed);
    Update { folder: IndexedFolder { id: name.to_owned(), look, settled }, found }
}

/// Returns the factors of a plan: `name` for each factor and `name=level` for each level.
fn factors(plan: &assay_model::Plan) -> Vec<String> {
    let mut all = std::collections::BTreeSet::new();
    for (name, level) in plan.treatments.iter().flat_map(|t| &t.levels) {
        all.insert(name.clone());
        all.insert(format!("{name}={level}"));
    }
    all.into_iter().collect()
}

/// Returns a fingerprint that differs whenever the summary of a run may have changed.
fn look_of(archive: &Path, name: &str) -> String {
    let folder = archive.join(RUNS).join(name);
    let ledger = fs::metadata(folder.join(LEDGER)).map_or_else(
        |_| "-".to_owned(),
        |m| format!("{}.{}.{}", m.len(), m.mtime(), m.mtime_nsec()),
    );
    format!("{ledger} {:?} {}", read_state(&folder), notes::look_of(archive, name))
}

/// Returns a fingerprint of `runs/` and `notes/` that changes whenever a run is added, removed or
/// annotated. Returns `None` if one of them changed so recently that another change could have the
/// same timestamp.
fn listing_look(archive: &Path) -> Option<String> {
    let runs = folder_look(&archive.join(RUNS))?;
    let notes = archive.join(NOTES);
    Some(if notes.exists() { format!("{runs} {}", folder_look(&notes)?) } else { runs })
}

fn folder_look(folder: &Path) -> Option<String> {
    let meta = fs::metadata(folder).ok()?;
    let changed =
        UNIX_EPOCH + Duration::new(meta.mtime().try_into().ok()?, meta.mtime_nsec() as u32);
    let age = SystemTime::now().duration_since(changed).ok()?;
    (age > Duration::from_secs(2)).then(|| format!("{}.{}", meta.mtime(), meta.mtime_nsec()))
}

/// A folder in `runs/` that cannot be read as a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    pub id: String,
    /// The reason as a sentence.
    pub reason: String,
}
