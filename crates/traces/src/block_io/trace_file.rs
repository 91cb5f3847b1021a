//! The report of block I/O as the file of a tracer.

use super::IoReport;
use crate::trace_file::{TraceData, TraceFile, from_json};

/// The file of the report of block I/O.
pub const FILE: TraceFile = TraceFile {
    tracer: "io",
    name: "io.json",
    numbers: "numbers of block I/O",
    complete: false,
    read: from_json::<IoReport>,
    merge: None,
    compare: None,
};

impl TraceData for IoReport {}
