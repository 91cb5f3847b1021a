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

/// Why files of another program are not imported.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    /// The kernel refused to give the file.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The kernel's error.
        source: std::io::Error,
    },
    /// It is a folder, a pipe, a device.
    #[error("{} is not a regular file; give the file that the program wrote", path.display())]
    NotAFile {
        /// What was given.
        path: PathBuf,
    },
    /// It holds nothing.
    #[error("{} is empty", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It is larger than what is read.
    #[error("{} is {found} bytes, and at most {limit} are read of a result", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// No format knows it.
    #[error("{} is not a result of a format that is known; known are {known}", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// The formats.
        known: String,
    },
    /// More than one format knows it.
    #[error("{} could be {candidates}; name the format with --as", path.display())]
    Ambiguous {
        /// The file.
        path: PathBuf,
        /// The formats that know it.
        candidates: String,
    },
    /// It is of a format that is known, and something in it is wrong.
    #[error("{}{flaw} (read as {format})", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// As what it was read.
        format: &'static str,
        /// What is wrong, and where.
        flaw: Flaw,
    },
    /// Files of several formats were given as one run.
    #[error("{} is {this}, and the files before it are {first}; import them apart", path.display())]
    Mixed {
        /// The file.
        path: PathBuf,
        /// Its format.
        this: &'static str,
        /// The format of the first file.
        first: &'static str,
    },
    /// One content was given twice, and would count twice.
    #[error("{} has the same content as {}; a trial counts once", path.display(), first.display())]
    Twice {
        /// The second file.
        path: PathBuf,
        /// The first.
        first: PathBuf,
    },
    /// The name cannot be that of an experiment.
    #[error("`{name}` cannot name a run; use lower-case letters, digits, `-` and `.`, at most 80")]
    Name {
        /// The name.
        name: String,
    },
    /// The archive cannot take it.
    #[error(transparent)]
    Archive(#[from] crate::Error),
}
