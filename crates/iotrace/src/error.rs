//! What can go wrong with a trace.

use std::path::PathBuf;

/// Every format that is read, for messages.
pub const KNOWN: &str = "blktrace (NAME.blktrace.N, blkparse -d, a stream), the text of blkparse, \
perf script, trace-cmd, biosnoop and bpftrace, CSV as of MSR Cambridge, Alibaba and Tencent, Parquet \
as assay writes it, iostat -x, and histograms of DTrace's quantize";

/// Why a trace gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be opened or read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is a folder.
    #[error("{} is a folder; name a file in it, or NAME for NAME.blktrace.0, NAME.blktrace.1 and so on", .0.display())]
    Folder(PathBuf),
    /// It has no bytes.
    #[error("{} is empty", .0.display())]
    Empty(PathBuf),
    /// Its format is not one that is read.
    #[error("{} is in no format that is read; those are {KNOWN}", .0.display())]
    Unknown(PathBuf),
    /// It is compressed.
    #[error("{} is compressed; unpack it on the way: `{command} {} | assay io --from -`", path.display(), path.display())]
    Compressed {
        /// The file.
        path: PathBuf,
        /// What unpacks it to standard output.
        command: &'static str,
    },
    /// It is blktrace, but not of version 7.
    #[error("{} is blktrace of version {version}; version 7 is read. Traces of zoned devices by newer kernels have records of another shape: record with a blktrace that asks for version 7, or convert with `blkparse`", path.display())]
    BlktraceVersion {
        /// The file.
        path: PathBuf,
        /// The version it says.
        version: u8,
    },
    /// It begins like its format, and holds nothing of it.
    #[error("{}: nothing in it could be read as {format}{}", path.display(), hint(first))]
    Nothing {
        /// The file.
        path: PathBuf,
        /// The format it was taken for.
        format: &'static str,
        /// What it begins with, shortened; empty for binary formats.
        first: String,
    },
    /// It is Parquet that cannot be read.
    #[error("{}: {reason}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// I/Os cannot be kept of it.
    #[error("{} is {format}, which has no single I/Os to keep", path.display())]
    NoIos {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: &'static str,
    },
    /// It does not tell through which stages an I/O went.
    #[error("{} has no stages: {why}", path.display())]
    NoStages {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// It came as a stream and its format needs a file.
    #[error("{0} can only be read from a file, not from standard input")]
    NeedsFile(&'static str),
    /// The file to keep I/Os in cannot be written.
    #[error("{} could not be written: {reason}", path.display())]
    Save {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// What is written of the I/Os finds no reader, or no room.
    #[error("the I/Os could not be written: {0}")]
    Write(std::io::Error),
}

fn hint(first: &str) -> String {
    if first.is_empty() { String::new() } else { format!("; it begins with `{first}`") }
}
