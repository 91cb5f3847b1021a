//! Tags and a note that people add to a run afterwards. They are stored in a file of their own
//! outside of the run's folder and its ledger, so that they can change. Exports and publications
//! omit them.

use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use assay_model::{RunId, RunSummary, SCHEMA_VERSION};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::format::disk::{self, Durability};
use crate::format::layout::NOTES;
use crate::store::repair;
use crate::{Error, Result};

/// Maximum number of added tags per run.
const MAX_TAGS: usize = 50;
/// Maximum length of a tag in bytes.
const MAX_TAG: usize = 200;
/// Prefix of the tags that mark runs as points of a history. Only the lab may set them.
const HISTORY: &str = "history-";
/// Maximum length of a note in bytes.
const MAX_NOTE: usize = 10_000;
/// Maximum size of a notes file in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Tags and note that were added to a run after it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notes {
    /// Version of the file format.
    schema_version: u32,
    /// Tags in addition to those that the experiment declares.
    pub tags: Vec<String>,
    /// A text about the run; may be empty.
    pub note: String,
}

impl Default for Notes {
    fn default() -> Self {
        Notes { schema_version: SCHEMA_VERSION, tags: Vec::new(), note: String::new() }
    }
}

impl Notes {
    /// Adds a tag unless it is there already.
    pub fn add_tag(&mut self, tag: &str) {
        let tag = tag.trim();
        if !self.tags.iter().any(|t| t == tag) {
            self.tags.push(tag.to_owned());
        }
    }

    /// Returns the first problem with the tags or the note, as a sentence.
    fn problem(&self) -> Option<String> {
        let control = |text: &str| text.chars().any(|c| c.is_control() && c != '\n' && c != '\t');
        if self.tags.len() > MAX_TAGS {
            return Some(format!("a run takes at most {MAX_TAGS} tags besides its experiment's"));
        }
        for tag in &self.tags {
            if tag.is_empty()
                || tag.len() > MAX_TAG
                || tag.contains([',', '\n', '\t'])
                || control(tag)
            {
                return Some(format!(
                    "`{}` is not a tag: 1 to {MAX_TAG} bytes without commas and control characters",
                    tag.escape_debug()
                ));
            }
        }
        if let Some(tag) = self.tags.iter().find(|tag| tag.starts_with(HISTORY)) {
            return Some(format!(
                "`{tag}`: tags that begin with `{HISTORY}` mark the points of histories"
            ));
        }
        if self.note.len() > MAX_NOTE || control(&self.note) {
            return Some(format!("a note has at most {MAX_NOTE} bytes and no control characters"));
        }
        None
    }
}

/// Changes the notes of an existing run. The change is on disk when this returns.
pub(crate) fn change(archive: &Path, id: &RunId, change: impl FnOnce(&mut Notes)) -> Result<Notes> {
    let folder = archive.join(NOTES);
    disk::make_folder(&folder)?;
    // Serializes changes, so that none is lost. Without flock the last writer wins.
    let guard = File::open(&folder).map_err(|e| Error::io("open", &folder, e))?;
    let _ = flock(&guard, FlockOperation::LockExclusive);
    let mut notes = read(archive, id)?;
    let before = notes.clone();
    change(&mut notes);
    notes.note = notes.note.trim().replace("\r\n", "\n");
    if let Some(reason) = notes.problem() {
        return Err(Error::Note { run: id.clone(), reason });
    }
    if notes != before {
        let path = path(archive, id);
        disk::replace(&path, &disk::to_json(&notes, &path)?, Durability::Synced)?;
    }
    Ok(notes)
}

pub(crate) fn lay_over(archive: &Path, mut summary: RunSummary) -> RunSummary {
    let notes = read(archive, &summary.id).unwrap_or_default();
    summary.added_tags = notes.tags;
    summary.added_tags.retain(|tag| !summary.tags.contains(tag));
    summary.note = notes.note;
    summary
}

fn path(archive: &Path, id: &RunId) -> PathBuf {
    archive.join(NOTES).join(format!("{id}.json"))
}

pub(crate) fn read(archive: &Path, id: &RunId) -> Result<Notes> {
    let path = path(archive, id);
    match disk::read_if_there(&path, MAX_FILE)? {
        None => Ok(Notes::default()),
        Some(bytes) => disk::parse_json(&bytes, &path),
    }
}

/// Removes the notes of a run that is being removed. Missing notes are no error.
pub(crate) fn forget(archive: &Path, id: &RunId) -> Result<()> {
    disk::remove(&path(archive, id))
}

/// Returns a fingerprint that changes whenever a run's notes do.
pub(crate) fn look_of(archive: &Path, name: &str) -> String {
    let path = archive.join(NOTES).join(format!("{name}.json"));
    std::fs::metadata(path).map_or_else(
        |_| "-".to_owned(),
        |m| format!("{}.{}.{}", m.ino(), m.mtime(), m.mtime_nsec()),
    )
}

/// Returns the names of the runs that have notes; empty if the folder cannot be read.
pub(crate) fn names(archive: &Path) -> HashSet<String> {
    let files = repair::list(&archive.join(NOTES)).unwrap_or_default();
    let name = |path: &PathBuf| Some(path.file_name()?.to_str()?.strip_suffix(".json")?.to_owned());
    files.iter().filter_map(name).collect()
}

/// A notes file in the archive.
pub(crate) struct NotesFile {
    pub path: PathBuf,
    /// The run; `None` for a file whose name is not a run's.
    pub run: Option<RunId>,
    /// The error if the file cannot be read.
    pub problem: Option<Error>,
}

/// Lists all notes files.
pub(crate) fn list(archive: &Path) -> Result<Vec<NotesFile>> {
    let files = repair::files_of_runs(&archive.join(NOTES))?.into_iter().map(|(path, run)| {
        let problem = run.as_ref().and_then(|id| read(archive, id).err());
        NotesFile { path, run, problem }
    });
    Ok(files.collect())
}
