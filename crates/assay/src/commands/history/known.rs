//! What is known of the changes of a series beside its points: their states, notes and resets, in a file of
//! the archive.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use assay_history::{Confirmation, State};
use assay_model::RunId;
use serde::{Deserialize, Serialize};

/// The version of the file's format.
const VERSION: u32 = 1;

/// What is known of the change at a commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The first commit of the new level.
    pub commit: String,
    /// Its state.
    pub state: State,
    /// What the fresh experiment found.
    #[serde(default)]
    pub fresh: Option<Confirmation>,
    /// The run of it.
    #[serde(default)]
    pub run: Option<RunId>,
    /// What a person said of it.
    #[serde(default)]
    pub note: Option<String>,
    /// Where more is said.
    #[serde(default)]
    pub link: Option<String>,
}

/// The file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    schema_version: u32,
    /// Changes, in the order in which they became known.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// Commits at which the series starts afresh.
    #[serde(default)]
    pub resets: Vec<String>,
    #[serde(skip)]
    path: PathBuf,
}

/// The folder of histories in an archive.
pub fn folder(archive: &Path) -> PathBuf {
    archive.join("history")
}

impl Known {
    /// Reads the file of a history; one that is not there is empty.
    pub fn open(archive: &Path, tag: &str) -> Result<Self> {
        let path = folder(archive).join(format!("{tag}.json"));
        let mut known: Known = match fs::read_to_string(&path) {
            Ok(text) => {
                serde_json::from_str(&text).with_context(|| format!("read {}", path.display()))?
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Known::default(),
            Err(e) => return Err(e).with_context(|| format!("read {}", path.display())),
        };
        if known.schema_version > VERSION {
            anyhow::bail!("{} was written by a newer assay; use that", path.display());
        }
        known.schema_version = VERSION;
        known.path = path;
        Ok(known)
    }

    /// Writes it; a crash leaves the old or the new file.
    pub fn save(&self) -> Result<()> {
        let path = &self.path;
        let new = path.with_extension("json.new");
        let write = || {
            fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
            fs::write(&new, serde_json::to_vec_pretty(self)?)?;
            fs::File::open(&new)?.sync_all()?;
            fs::rename(&new, path)
        };
        write().with_context(|| format!("write {}", path.display()))
    }

    /// What is known of a change that may be at any of these commits.
    pub fn of(&self, commits: &[&str]) -> Option<&Change> {
        self.changes.iter().rev().find(|c| commits.contains(&c.commit.as_str()))
    }

    /// Keeps what is known of a change, in place of what was known of its commit.
    pub fn put(&mut self, change: Change) {
        self.changes.retain(|c| c.commit != change.commit);
        self.changes.push(change);
    }
}
