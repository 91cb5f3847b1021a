//! Errors in files of other programs.

use std::fmt;
use std::path::PathBuf;

/// Position of an error in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorLocation {
    /// The file as a whole.
    Whole,
    /// A line and, if known, a column; both count from 1.
    Line(u64, Option<u64>),
    /// A field, by its JSON path (`results[0].times[3]`).
    Field(String),
}

/// An error inside a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    pub place: ErrorLocation,
    /// Description of the error as a sentence.
    pub message: String,
}

impl Flaw {
    /// Makes an error about the file as a whole.
    pub(crate) fn whole(message: impl Into<String>) -> Self {
        Flaw { place: ErrorLocation::Whole, message: message.into() }
    }

    /// Makes an error about a line, counted from 1.
    pub(crate) fn line(line: u64, message: impl Into<String>) -> Self {
        Flaw { place: ErrorLocation::Line(line, None), message: message.into() }
    }

    /// Makes an error about a field.
    pub(crate) fn field(path: impl Into<String>, message: impl Into<String>) -> Self {
        Flaw { place: ErrorLocation::Field(path.into()), message: message.into() }
    }
}

impl fmt::Display for Flaw {
    /// Formats the text that follows the file's name: `:4:12: …`, `: at results[0].mean: …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = &self.message;
        match &self.place {
            ErrorLocation::Whole => write!(f, ": {message}"),
            ErrorLocation::Line(line, None) => write!(f, ":{line}: {message}"),
            ErrorLocation::Line(line, Some(column)) => write!(f, ":{line}:{column}: {message}"),
            ErrorLocation::Field(path) => write!(f, ": at {path}: {message}"),
        }
    }
}

/// Reason why files of another program are not imported. The first field of a variant is the file.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    /// The kernel could not read the file.
    #[error("cannot read {path}: {1}", path = .0.display())]
    Io(PathBuf, #[source] std::io::Error),
    /// The path is a folder, a pipe or a device.
    #[error("{} is not a regular file; give the file that the program wrote", .0.display())]
    NotAFile(PathBuf),
    #[error("{path} is empty", path = .0.display())]
    Empty(PathBuf),
    /// The file is larger than the limit.
    #[error("{} has {found} bytes, and a result may have at most {limit}", path.display())]
    TooLarge {
        /// The file or folder.
        path: PathBuf,
        /// Size of the content in bytes.
        found: u64,
        /// Maximum size in bytes.
        limit: u64,
    },
    /// No format recognizes the file. The second field names all formats.
    #[error("{path} has an unknown format; known formats: {1}", path = .0.display())]
    Unknown(PathBuf, String),
    /// No reader recognizes the output of a trial.
    #[error("{path} is not that of a tool that assay reads; --metric-from reads one number of \
        any output", path = .0.display())]
    Unrecognized(PathBuf),
    /// Several formats, named in the second field, recognize the file.
    #[error("{path} could be {1}; name the format with --as, or --reader for a trial",
        path = .0.display())]
    Ambiguous(PathBuf, String),
    /// The content is invalid. The second field is the format as which the file was read.
    #[error("{path}{2} (read as {1})", path = .0.display())]
    Malformed(PathBuf, &'static str, Flaw),
    /// Files of several formats were given together: the format of this file and that of the first
    /// one.
    #[error("{path} is {1}, and the files before it are {2}; import them separately",
        path = .0.display())]
    Mixed(PathBuf, &'static str, &'static str),
    /// The file has the same content as the second one and would count twice.
    #[error("{} has the same content as {}; give each file once", .0.display(), .1.display())]
    Twice(PathBuf, PathBuf),
    /// A run was requested, but the format in the second field has no trials.
    #[error("{path} holds points over revisions and no trials (read as {1}); use `assay history \
        import`", path = .0.display())]
    Series(PathBuf, &'static str),
    /// A series was requested, but the trials in this format (second field) have no times.
    #[error("{path} does not state when its trials were measured (read as {1}), so they cannot \
        be points over time; use `assay archive import`", path = .0.display())]
    Undated(PathBuf, &'static str),
    /// The folder is not in a git repository, or the repository has no notes.
    #[error("{path} {1}", path = .0.display())]
    Repository(PathBuf, String),
    #[error(transparent)]
    Git(#[from] assay_system::revisions::RevisionError),
}
