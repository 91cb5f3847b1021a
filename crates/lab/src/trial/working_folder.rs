//! Files that the first trial of a treatment writes into its working folder, where later trials
//! find them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use assay_model::Observation;

/// Limit on entries; a folder with more is not compared.
const MOST: usize = 2_000;
/// Maximum number of files that are named.
const NAMED: usize = 5;

/// Files of a folder and its subfolders, by relative path: size and modification time.
pub(crate) type FolderFiles = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

/// Lists a folder; `None` if it cannot be read or has too many entries.
pub(crate) fn list(folder: &Path) -> Option<FolderFiles> {
    let (mut files, mut open, mut entries) = (FolderFiles::new(), vec![PathBuf::new()], 0);
    while let Some(below) = open.pop() {
        for entry in fs::read_dir(folder.join(&below)).ok()? {
            let entry = entry.ok()?;
            entries += 1;
            if entries > MOST {
                return None;
            }
            let path = below.join(entry.file_name());
            let found = entry.metadata().ok()?;
            if found.is_dir() {
                open.push(path);
            } else {
                files.insert(path, (found.len(), found.modified().ok()));
            }
        }
    }
    Some(files)
}

/// Names the files written into `folder` since it was listed as `before`.
pub(crate) fn written(folder: &Path, before: &FolderFiles) -> Option<Observation> {
    let now = list(folder)?;
    let new = now.iter().filter(|(path, state)| before.get(*path) != Some(*state));
    let files: Vec<String> = new.take(NAMED).map(|(path, _)| path.display().to_string()).collect();
    (!files.is_empty()).then_some(Observation::FolderWritten { files })
}
