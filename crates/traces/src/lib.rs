//! Traces as data: recorded or aggregated events of block I/O, profiles, system calls, waits for a
//! CPU and address translation. Each module has readers of other programs' formats, sums, and
//! differences between sets of trials. The live halves are in `assay-observe`, in folders of the
//! same names.

pub mod block_io;
pub mod parquet_guard;
pub mod profile;
pub mod runqueue;
pub mod syscalls;
pub mod translation;

mod loglinear;
mod trace_file;

pub use loglinear::LogLinear;
pub use trace_file::{
    RunTraces, SharedTrace, TraceData, TraceFile, TraceFileError, TracePair, TracedNumber,
    traced_metric, typed,
};

/// Files of all tracers.
pub const TRACE_FILES: [&TraceFile; 5] =
    [&block_io::FILE, &syscalls::FILE, &runqueue::FILE, &profile::FILE, &profile::INSTRUCTIONS];
