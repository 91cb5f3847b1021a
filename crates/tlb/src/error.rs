//! What can go wrong with a trace or a machine.

use std::path::PathBuf;

/// Every format that is read, for messages.
pub const KNOWN: &str = "assay's own (`assay tlb --simulate TRACE --record FILE` writes it), the log of \
`valgrind --tool=lackey --trace-mem=yes`, and the text of DynamoRIO's memtrace_simple and memtrace_x86";

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A trace has no bytes.
    #[error("{} is empty", .0.display())]
    Empty(PathBuf),
    /// Its format is none that is read.
    #[error("{} is in no format that is read; those are {KNOWN}", .0.display())]
    Unknown(PathBuf),
    /// A place in a trace cannot be read.
    #[error("{}, {place}: {reason}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// `line 7`, `record 12`.
        place: String,
        /// What is wrong and what would be right.
        reason: String,
    },
    /// It ends before its end.
    #[error("{} is truncated: {reason}", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// How that is known.
        reason: String,
    },
    /// A record that cannot be, without a file to blame.
    #[error("record {index} of the stream: {reason}")]
    Record {
        /// Which, from 0.
        index: u64,
        /// What is wrong.
        reason: String,
    },
    /// A machine that cannot be built.
    #[error("{place}: {reason}")]
    Machine {
        /// Which part: `tlb 2 (both, level 2)`.
        place: String,
        /// What is wrong and what would be right.
        reason: String,
    },
    /// A machine's file is wrong.
    #[error("{}: {source}", path.display())]
    MachineFile {
        /// The file.
        path: PathBuf,
        /// The reader's message, with the line.
        source: Box<toml::de::Error>,
    },
    /// There is no machine of that name.
    #[error("there is no machine `{name}`; known are {known}, or the path of a TOML file")]
    NoMachine {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
}

impl Error {
    pub(crate) fn machine(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Error::Machine { place: place.into(), reason: reason.into() }
    }
}
