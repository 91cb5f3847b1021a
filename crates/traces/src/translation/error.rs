use std::path::PathBuf;

/// Supported formats, for messages.
pub const KNOWN: &str = "assay's own (`assay tlb --simulate TRACE --record FILE` writes it), the \
log of `valgrind --tool=lackey --trace-mem=yes`, and the text of DynamoRIO's memtrace_simple and \
memtrace_x86";

/// Reason why a trace or a machine cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// A trace is empty.
    #[error("{} is empty", .0.display())]
    Empty(PathBuf),
    /// The format is not supported.
    #[error("{} has an unknown format; known formats: {KNOWN}", .0.display())]
    Unknown(PathBuf),
    /// A part of a trace cannot be parsed.
    #[error("{}, {place}: {reason}", path.display())]
    Bad {
        path: PathBuf,
        /// Position in the trace, such as `line 7` or `record 12`.
        place: String,
        /// Reason, and the expected form.
        reason: String,
    },
    /// A trace is cut off.
    #[error("{} is truncated: {reason}", path.display())]
    Truncated {
        path: PathBuf,
        /// Evidence that the trace is cut off.
        reason: String,
    },
    /// A record of a stream without a file is invalid.
    #[error("record {index} of the stream: {reason}")]
    Record {
        /// Index of the record, from 0.
        index: u64,
        reason: String,
    },
    /// A machine is impossible.
    #[error("{place}: {reason}")]
    Machine {
        /// Part of the machine, such as `tlb 2 (both, level 2)`.
        place: String,
        /// Reason, and a valid alternative.
        reason: String,
    },
    /// The TOML of a machine is invalid.
    #[error("{}: {source}", path.display())]
    MachineFile {
        path: PathBuf,
        /// Message of the TOML parser, with the line.
        source: Box<toml::de::Error>,
    },
    /// No machine has the requested name.
    #[error("there is no machine `{name}`; use {known}, or the path of a TOML file")]
    NoMachine {
        name: String,
        /// Names of the built-in machines.
        known: String,
    },
}

impl Error {
    pub(crate) fn machine(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Error::Machine { place: place.into(), reason: reason.into() }
    }
}
