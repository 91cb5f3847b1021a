//! Schema of `io.parquet`, which has one row per I/O in the order of their starts. Metadata
//! describes the file as a whole (recorded data, losses, clock), so that the file gives the same
//! answers as the trace it was made from.

use serde::{Deserialize, Serialize};

use crate::block_io::answers::series::RecordedFields;
use crate::block_io::matching::completeness::Completeness;

/// Columns of the file. Null means not recorded or, for latencies, not completed within the trace.
/// `start_ns` is on the clock of the writer; for a run, that is the run's own clock. `file_from` is
/// a name of [`crate::block_io::FileFrom`]. It and the last three columns are missing from the
/// first files. Questions do not need them; [`crate::block_io::write_events`] reads them, and other
/// programs may.
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

/// Metadata key of the format version, the same in every Parquet file of assay.
pub(crate) const VERSION_KEY: &str = "assay.schema_version";
/// Metadata key of [`TraceAbout`].
pub(crate) const ABOUT_KEY: &str = "assay.io";

/// Metadata about the file as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceAbout {
    /// Format of the trace that the I/Os came from.
    pub format: String,
    /// Moments between which latency is measured.
    pub latency_is: String,
    /// Data that the trace records.
    pub recorded: RecordedFields,
    /// Counts of events read, matched and lost.
    #[serde(alias = "honesty")]
    pub completeness: Completeness,
    /// Offset from the trace's clock to nanoseconds since 1970; `null` if unknown.
    pub wall_offset_ns: Option<i64>,
}
