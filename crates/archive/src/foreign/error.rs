//! What can be wrong with another program's file.

use std::fmt;
use std::path::PathBuf;

/// Where in a file something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// The file as a whole.
    Whole,
    /// A line and, where it is known, a column; both count from 1.
    Line(u64, Option<u64>),
    /// A field, by its JSON path (`results[0].times[3]`).
    Field(String),
}

/// What is wrong inside a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// Where.
    pub place: Location,
    /// What, as a sentence.
    pub message: String,
}

impl Flaw {
    /// Something about the file as a whole.
    pub(crate) fn whole(message: impl Into<String>) -> Self {
        Flaw { place: Location::Whole, message: message.into() }
    }

    /// Something in a line, from 1.
    pub(crate) fn line(line: u64, message: impl Into<String>) -> Self {
        Flaw { place: Location::Line(line, None), message: message.into() }
    }

    /// Something in a field.
    pub(crate) fn field(path: impl Into<String>, message: impl Into<String>) -> Self {
        Flaw { place: Location::Field(path.into()), message: message.into() }
    }
}

impl fmt::Display for Flaw {
    /// `:4:12: …`, `: at results[0].mean: …`: what follows the file's name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = &self.message;
        match &self.place {
            Location::Whole => write!(f, ": {message}"),
            Location::Line(line, None) => write!(f, ":{line}: {message}"),
            Location::Line(line, Some(column)) => write!(f, ":{line}:{column}: {message}"),
            Location::Field(path) => write!(f, ": at {path}: {message}"),
        }
    }
}

/// Reason why files of another program are not imported. The first field of a variant is the file.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    /// The kernel refused to give the file.
    #[error("cannot read {path}: {1}", path = .0.display())]
    Io(PathBuf, #[source] std::io::Error),
    /// A folder, a pipe or a device.
    #[error("{path} is not a regular file; give the file that the program wrote", path = .0.display())]
    NotAFile(PathBuf),
    /// It holds nothing.
    #[error("{path} is empty", path = .0.display())]
    Empty(PathBuf),
    /// It is larger than what is read.
    #[error("{} is {found} bytes, and at most {limit} are read of a result", path.display())]
    TooLarge {
        /// The file, or the folder.
        path: PathBuf,
        /// Its size.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// No format knows it. The second field names all formats.
    #[error("{path} is not a result of a format that is known; known are {1}", path = .0.display())]
    Unknown(PathBuf, String),
    /// The formats of the second field know it.
    #[error("{path} could be {1}; name the format with --as", path = .0.display())]
    Ambiguous(PathBuf, String),
    /// Something in it is wrong. The second field is the format that it was read as.
    #[error("{path}{2} (read as {1})", path = .0.display())]
    Malformed(PathBuf, &'static str, Flaw),
    /// Files of several formats were given together: that of this file and that of the first.
    #[error("{path} is {1}, and the files before it are {2}; import them apart", path = .0.display())]
    Mixed(PathBuf, &'static str, &'static str),
    /// It has the content of the second file, and would count twice.
    #[error("{path} has the same content as {first}; a trial counts once", path = .0.display(), first = .1.display())]
    Twice(PathBuf, PathBuf),
    /// A run was asked for, and the format of the second field has no trials.
    #[error("{path} holds points over revisions and no trials (read as {1}); `assay history import` takes it", path = .0.display())]
    Series(PathBuf, &'static str),
    /// Series were asked for, and its trials of the format of the second field have no time.
    #[error("{path} does not state when its trials were measured (read as {1}), so they are no points over time; `assay archive import` takes it as a run", path = .0.display())]
    Undated(PathBuf, &'static str),
    /// The folder is in no git repository, or has no notes.
    #[error("{path} {1}", path = .0.display())]
    Repository(PathBuf, String),
    /// git failed.
    #[error(transparent)]
    Git(#[from] assay_revisions::RevisionError),
    /// The name cannot be that of an experiment.
    #[error("`{0}` cannot name a run; use lower-case letters, digits, `-` and `.`, at most 80")]
    Name(String),
    /// The archive cannot take it.
    #[error(transparent)]
    Archive(#[from] crate::Error),
}
