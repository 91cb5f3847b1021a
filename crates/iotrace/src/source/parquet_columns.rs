//! `io.parquet`: one row an I/O in the order in which they started. What the file as a whole says
//! (what was recorded, what was lost, the clock) is in its metadata, so that a question asked of it is
//! answered as it was of the trace it was made from.

use serde::{Deserialize, Serialize};

use crate::completeness::Completeness;
use crate::series::Recorded;

/// The columns. Absent values are null: not recorded, or (latencies) not ended within the trace.
/// `start_ns` is on the clock of what wrote it: of a run, its own clock. `file_from` is a name of
/// [`crate::FileFrom`]; it and the three last are absent from the first files, and for other programs than
/// this, which does not read them.
pub(crate) const SCHEMA: &str = "message io {
    REQUIRED INT64 start_ns;
    OPTIONAL INT64 latency_ns;
    OPTIONAL INT64 queue_ns;
    OPTIONAL INT64 device_ns;
    REQUIRED BYTE_ARRAY device (STRING);
    REQUIRED INT64 sector;
    REQUIRED INT64 bytes;
    REQUIRED BYTE_ARRAY operation (STRING);
    OPTIONAL BOOLEAN sync;
    OPTIONAL BOOLEAN readahead;
    OPTIONAL BOOLEAN aio;
    OPTIONAL BOOLEAN writeback;
    OPTIONAL INT64 pid;
    OPTIONAL BYTE_ARRAY program (STRING);
    OPTIONAL BYTE_ARRAY file (STRING);
    OPTIONAL BYTE_ARRAY cgroup (STRING);
    OPTIONAL BYTE_ARRAY file_from (STRING);
    OPTIONAL BOOLEAN preflush;
    OPTIONAL BOOLEAN fua;
    OPTIONAL BOOLEAN metadata;
}";

/// The key of the format's version in the metadata, as in every Parquet file of assay.
pub(crate) const VERSION_KEY: &str = "assay.schema_version";
/// The key of [`TraceAbout`] in the metadata.
pub(crate) const ABOUT_KEY: &str = "assay.io";

/// Facts about the file as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceAbout {
    /// The format that the I/Os came from.
    pub format: String,
    /// Between which moments latency is measured.
    pub latency_is: String,
    /// What it recorded.
    pub recorded: Recorded,
    /// What was seen and lost.
    #[serde(alias = "honesty")]
    pub completeness: Completeness,
    /// What brings a time to nanoseconds since 1970; `null`: unknown.
    pub wall_offset_ns: Option<i64>,
}
