//! A mistake in the file of a kit or a suite, with its line.

use std::path::{Path, PathBuf};

/// A mistake in the file of a kit or a suite.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {message}", path.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
pub struct Problem {
    /// The file that it is in.
    pub path: PathBuf,
    /// The line, from 1; `None` when it is of the whole file.
    pub line: Option<usize>,
    /// What is wrong and what would be right.
    pub message: String,
}

impl Problem {
    /// A mistake of the whole file.
    pub(crate) fn whole(path: &Path, message: impl Into<String>) -> Self {
        Problem { path: path.to_owned(), line: None, message: message.into() }
    }
}
