use std::path::PathBuf;

/// Supported formats, for messages.
pub const KNOWN: &str = "blktrace (NAME.blktrace.N, blkparse -d, a stream), the text of blkparse, \
perf script, trace-cmd, biosnoop and bpftrace, CSV as of MSR Cambridge, Alibaba and Tencent, \
Parquet as assay writes it, iostat -x, and histograms of DTrace's quantize";

/// Reason why a trace could not be analyzed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The trace cannot be opened or read.
    #[error("{}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    /// The path is a folder.
    #[error("{} is a folder; name a file in it, or NAME for NAME.blktrace.0, NAME.blktrace.1 and \
        so on", .0.display())]
    Folder(PathBuf),
    #[error("{} is empty", .0.display())]
    Empty(PathBuf),
    /// The format is not supported.
    #[error("{} has an unknown format; known formats: {KNOWN}", .0.display())]
    Unknown(PathBuf),
    #[error("{path} is packed; run {command} {path} | assay io --from -", path = path.display())]
    Compressed {
        path: PathBuf,
        /// Command that unpacks the file to standard output.
        command: &'static str,
    },
    /// The trace is blktrace, but not of version 7.
    #[error("{} is blktrace of version {version}; version 7 is read. Traces of zoned devices by \
        newer kernels have other records: record with a blktrace that asks for version 7, or \
        convert with `blkparse`", path.display())]
    BlktraceVersion { path: PathBuf, version: u8 },
    /// The trace begins like its format, but no record of it could be parsed.
    #[error("{}: nothing in it could be read as {format}{}", path.display(), hint(first))]
    Nothing {
        path: PathBuf,
        /// Format that was detected.
        format: &'static str,
        /// Beginning of the trace, shortened; empty for binary formats.
        first: String,
    },
    #[error("{}: {reason}", path.display())]
    Parquet { path: PathBuf, reason: String },
    /// The format holds no single I/Os that could be saved.
    #[error("{} is {format}, which has no single I/Os to keep", path.display())]
    NoIos { path: PathBuf, format: &'static str },
    /// The trace does not record the stages of an I/O.
    #[error("{} has no stages: {why}", path.display())]
    NoStages { path: PathBuf, why: &'static str },
    /// The trace is a stream, but its format needs a file.
    #[error("{0} can only be read from a file, not from standard input")]
    NeedsFile(&'static str),
    /// The Parquet file for the I/Os cannot be written.
    #[error("{} could not be written: {reason}", path.display())]
    Save { path: PathBuf, reason: String },
    /// The text of the I/Os cannot be written: the reader is gone or the disk is full.
    #[error("the I/Os could not be written: {0}")]
    Write(std::io::Error),
}

fn hint(first: &str) -> String {
    if first.is_empty() { String::new() } else { format!("; it begins with `{first}`") }
}
