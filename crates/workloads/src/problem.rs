//! Mistakes in the files of kits and suites.

use std::path::{Path, PathBuf};

/// A mistake in the file of a kit or a suite, with its line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {message}", path.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
pub struct Problem {
    /// File with the mistake.
    pub path: PathBuf,
    /// Line, from 1; `None` if the mistake concerns the whole file.
    pub line: Option<usize>,
    /// Message: the mistake and its remedy.
    pub message: String,
}

impl Problem {
    /// Creates a mistake that concerns the whole file.
    pub(crate) fn whole(path: &Path, message: impl Into<String>) -> Self {
        Problem { path: path.to_owned(), line: None, message: message.into() }
    }
}

/// A mistake in `kit.toml`.
pub(crate) struct Mistake {
    /// Byte offset in the file at which the mistake begins.
    pub at: usize,
    /// Message: the mistake and its remedy.
    pub message: String,
}
