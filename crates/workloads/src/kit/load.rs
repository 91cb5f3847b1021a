//! Reads a kit's folder: parses the file, reports its mistakes with their lines, and hashes
//! everything in the folder.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use assay_system::{sha256, sha256_file};
use serde::de::DeserializeOwned;

use super::check::mistakes;
use super::format::KitFile;
use crate::WorkloadError;
use crate::problem::{Mistake, Problem};

/// Name of the file that makes a folder a kit.
pub(crate) const FILE: &str = "kit.toml";

/// Returns the line, counted from 1, of a byte offset in `text`.
fn line(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

/// Reads a TOML file; returns its value and its text.
///
/// # Errors
/// Fails if the file cannot be read or is not a valid `T`.
pub(crate) fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<(T, String), Problem> {
    let text = fs::read_to_string(path)
        .map_err(|e| Problem::whole(path, format!("it cannot be read: {e}")))?;
    match toml::from_str(&text) {
        Ok(file) => Ok((file, text)),
        Err(e) => {
            let line = e.span().map(|s| line(&text, s.start));
            Err(Problem { line, ..Problem::whole(path, e.message().replace('\n', "; ")) })
        }
    }
}

/// Returns every mistake in the kit in `dir` that can be found without fetching, building or
/// running anything. If it is empty, the kit can be used.
pub fn check(dir: &Path) -> Vec<Problem> {
    match read(dir) {
        Ok(_) => Vec::new(),
        Err(problems) => problems,
    }
}

/// A kit's file and the digest of its folder.
pub(crate) struct LoadedKit {
    /// The kit's folder, absolute.
    pub dir: PathBuf,
    pub file: KitFile,
    /// Folder of the files shared with other kits, absolute.
    pub shared: Option<PathBuf>,
    /// SHA-256 over the names and contents of all files in the folder and of the shared files.
    pub digest: String,
}

/// Reads the kit in the folder `dir`.
///
/// # Errors
/// Returns the mistakes, at least one.
pub(crate) fn read(dir: &Path) -> Result<LoadedKit, Vec<Problem>> {
    let path = dir.join(FILE);
    let whole = |message: String| vec![Problem::whole(&path, message)];
    let dir =
        fs::canonicalize(dir).map_err(|e| whole(format!("the folder cannot be read: {e}")))?;
    let (file, text): (KitFile, _) = read_toml(&path).map_err(|problem| vec![problem])?;
    let found: Vec<Problem> = mistakes(&file, &dir)
        .into_iter()
        .map(|Mistake { at, message }| Problem {
            path: path.clone(),
            line: Some(line(&text, at)),
            message,
        })
        .collect();
    if !found.is_empty() {
        return Err(found);
    }
    let unread = |e: std::io::Error| whole(format!("a file of the kit cannot be read: {e}"));
    let mut lines = lines(&dir).map_err(unread)?;
    let mut shared = None;
    if let Some(of) = &file.shared {
        let folder = fs::canonicalize(dir.join(of.from.get_ref())).map_err(unread)?;
        for name in &of.files {
            let digest = sha256_file(&folder.join(name.get_ref())).map_err(unread)?;
            lines.push(format!("shared {:?} {digest}\n", name.get_ref()));
        }
        shared = Some(folder);
    }
    lines.sort();
    let digest = sha256(lines.concat().as_bytes());
    Ok(LoadedKit { dir, file, shared, digest })
}

/// Returns the first of several mistakes as an error, with the number of the others.
pub(crate) fn error(problems: Vec<Problem>) -> WorkloadError {
    let more = problems.len().saturating_sub(1);
    let mut first = problems.into_iter().next().expect("an unusable kit has a mistake");
    if more > 0 {
        let _ = write!(first.message, " (and {more} more)");
    }
    first.into()
}

/// Returns a line `name digest` for every regular file below `dir`.
fn lines(dir: &Path) -> std::io::Result<Vec<String>> {
    let mut lines = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                let name = entry.path();
                let name = name.strip_prefix(dir).unwrap_or(&name).display().to_string();
                lines.push(format!("{name:?} {}\n", sha256_file(&entry.path())?));
            }
        }
    }
    Ok(lines)
}
