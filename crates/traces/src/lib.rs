//! Traces as data: recorded or aggregated events of block I/O, profiles, system calls and address
//! translation. Each module has readers of other programs' formats, sums, and differences between
//! sets of trials. The live halves are in `assay-observe`, in folders of the same names.

pub mod block_io;
pub mod parquet_guard;
pub mod profile;
pub mod syscalls;
pub mod translation;

mod trace_file;

pub use trace_file::{
    RunTraces, SharedTrace, TraceData, TraceFile, TraceFileError, TracePair, TracedNumber,
    traced_metric, typed,
};

/// Files of all tracers.
pub const TRACE_FILES: [&TraceFile; 4] =
    [&block_io::FILE, &syscalls::FILE, &profile::FILE, &profile::INSTRUCTIONS];
