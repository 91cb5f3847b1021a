//! Reads a kit's folder: the file into its types, its mistakes with their lines, and the digest of
//! everything in it.

use std::fs;
use std::path::{Path, PathBuf};

use super::check::mistakes;
use super::format::KitFile;
use crate::WorkloadError;
use assay_sut::{sha256, sha256_file};

/// The file that makes a folder a kit.
pub(crate) const FILE: &str = "kit.toml";

/// A mistake in a kit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file that it is in.
    pub path: PathBuf,
    /// The line, from 1; `None` when it is of the whole file.
    pub line: Option<usize>,
    /// What is wrong and what would be right.
    pub message: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path.display(), self.message),
            None => write!(f, "{}: {}", self.path.display(), self.message),
        }
    }
}

/// Finds every mistake in the kit of the folder `dir` that can be found without fetching, building
/// or running anything. Empty: it can be used.
pub fn check(dir: &Path) -> Vec<Problem> {
    match read(dir) {
        Ok(_) => Vec::new(),
        Err(problems) => problems,
    }
}

/// A kit's file, and the digest of its folder.
pub(crate) struct Loaded {
    /// The folder, absolute.
    pub dir: PathBuf,
    /// The file.
    pub file: KitFile,
    /// The folder of the files that it shares with others, absolute.
    pub shared: Option<PathBuf>,
    /// SHA-256 over the names and contents of all files in the folder, and of the shared ones.
    pub digest: String,
}

/// Reads the kit of the folder `dir`.
///
/// # Errors
/// Its mistakes, at least one.
pub(crate) fn read(dir: &Path) -> Result<Loaded, Vec<Problem>> {
    let path = dir.join(FILE);
    let problem = |line, message| Problem { path: path.clone(), line, message };
    let whole = |message: String| vec![problem(None, message)];
    let dir =
        fs::canonicalize(dir).map_err(|e| whole(format!("the folder cannot be read: {e}")))?;
    let text = fs::read_to_string(&path).map_err(|e| whole(format!("it cannot be read: {e}")))?;
    let line = |offset: usize| {
        text.bytes().take(offset).fold(1, |line, byte| line + usize::from(byte == b'\n'))
    };
    let file: KitFile = toml::from_str(&text).map_err(|e| {
        let message = e.message().replace('\n', "; ");
        vec![problem(e.span().map(|s| line(s.start)), message)]
    })?;
    let found: Vec<Problem> =
        mistakes(&file, &dir).into_iter().map(|m| problem(m.at.map(line), m.message)).collect();
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
    Ok(Loaded { dir, file, shared, digest })
}

/// The first of several mistakes as an error.
pub(crate) fn error(problems: Vec<Problem>) -> WorkloadError {
    let more = problems.len().saturating_sub(1);
    let Some(first) = problems.into_iter().next() else {
        return WorkloadError::Kit { path: FILE.into(), line: None, message: "wrong".into() };
    };
    let message = match more {
        0 => first.message,
        _ => format!("{} (and {more} more)", first.message),
    };
    WorkloadError::Kit { path: first.path, line: first.line, message }
}

/// A line `name digest` of every regular file below `dir`.
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
