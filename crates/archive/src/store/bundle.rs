//! The content of an exported run (`.tar.zst`): a manifest, then every file that the manifest
//! names, in that order.

use std::fs;
use std::path::Path;

use assay_model::{FileHash, RunId, SCHEMA_VERSION};
use serde::{Deserialize, Serialize};

use crate::format::disk;
use crate::format::layout::{LOCK, TRIAL_STAGING, is_run_file};
use crate::store::heads::Head;
use crate::store::repair;
use crate::{Error, Result};

/// Name of the manifest in the tar file, next to the run's folder.
pub(crate) const MANIFEST: &str = "manifest.json";

/// List of all files of a run. Two runs with equal manifests are the same run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub schema_version: u32,
    pub run: RunId,
    /// The files, sorted by path.
    pub files: Vec<FileHash>,
    /// The head of the run's ledger as the archive kept it; absent in files of an older assay,
    /// which kept no heads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Head>,
}

impl Manifest {
    /// Builds the manifest of a run's folder.
    pub(crate) fn from_folder(folder: &Path, run: &RunId, head: Option<Head>) -> Result<Self> {
        let names = names(folder)?;
        let files = names.iter().map(|name| disk::hash_file(name, &folder.join(name)));
        let files = files.collect::<Result<_>>()?;
        Ok(Manifest { schema_version: SCHEMA_VERSION, run: run.clone(), files, head })
    }

    /// Returns the total size of all files in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, f| sum.saturating_add(f.bytes))
    }
}

/// Returns the names of the files in a run's folder, sorted.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    collect(folder, "", &mut files)?;
    files.sort();
    Ok(files)
}

fn collect(folder: &Path, inside: &str, files: &mut Vec<String>) -> Result<()> {
    for path in repair::list(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let inner = if inside.is_empty() { name.into_owned() } else { format!("{inside}/{name}") };
        if [LOCK, TRIAL_STAGING].contains(&inner.as_str()) {
            continue;
        }
        let meta = fs::symlink_metadata(&path).map_err(|e| Error::io("read", &path, e))?;
        if meta.is_dir() && inner.matches('/').count() < 4 {
            collect(&path, &inner, files)?;
        } else if meta.is_file() && is_run_file(&inner) {
            files.push(inner);
        } else {
            return Err(Error::damaged(&path, "a run holds only files with plain names"));
        }
    }
    Ok(())
}
