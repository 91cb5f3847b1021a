//! Readers of trace formats, one module per format.

pub(crate) mod blkparse;
pub(crate) mod blktrace;
pub(crate) mod blktrace_record;
pub(crate) mod blktrace_tables;
pub(crate) mod csv;
pub(super) mod detect;
pub(crate) mod events;
pub(super) mod fields;
pub(super) mod lines;
pub(super) mod opened;
pub(crate) mod parquet_columns;
mod parquet_pages;
pub(crate) mod parquet_read;
mod parquet_runs;
pub(crate) mod parquet_write;
pub(super) mod pipeline;
mod row_log;
pub(crate) mod rows;
pub(crate) mod snoop;
pub(crate) mod tracepoints;
