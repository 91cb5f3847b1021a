//! What a run's `.tar.zst` holds: a manifest first, then every file it names, in its order.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use assay_model::{RunId, SCHEMA_VERSION};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::layout::{LOCK, TRIAL_STAGING, is_run_file};
use crate::{Error, Result, disk, repair};

/// The manifest's name in the tar file, beside the run's folder of the same archive.
pub(crate) const MANIFEST: &str = "manifest.json";

/// One file of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ManifestFile {
    /// Its path inside the run, with `/`.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its content, hexadecimal.
    pub sha256: String,
}

/// Everything a run is made of. Two runs with equal manifests are the same run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub schema_version: u32,
    pub run: RunId,
    /// The files, by path.
    pub files: Vec<ManifestFile>,
}

impl Manifest {
    /// The manifest of a run's folder.
    pub(crate) fn of(folder: &Path, run: &RunId) -> Result<Self> {
        let mut files = Vec::new();
        collect(folder, "", &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Manifest { schema_version: SCHEMA_VERSION, run: run.clone(), files })
    }

    /// The size of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, f| sum.saturating_add(f.bytes))
    }
}

fn collect(folder: &Path, inside: &str, files: &mut Vec<ManifestFile>) -> Result<()> {
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
            let (bytes, sha256) = digest(&path)?;
            files.push(ManifestFile { path: inner, bytes, sha256 });
        } else {
            return Err(Error::damaged(&path, "a run holds only files with plain names"));
        }
    }
    Ok(())
}

/// A file's size and SHA-256.
fn digest(path: &Path) -> Result<(u64, String)> {
    let fail = |e| Error::io("read", path, e);
    let mut file = File::open(path).map_err(fail)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    let mut bytes = 0;
    loop {
        let n = file.read(&mut buffer).map_err(fail)?;
        if n == 0 {
            return Ok((bytes, disk::hex(&hash.finalize())));
        }
        hash.update(&buffer[..n]);
        bytes += n as u64;
    }
}
