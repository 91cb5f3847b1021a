//! Readers of trace formats, one module per format.

pub(crate) mod blkparse;
pub(crate) mod blktrace;
pub(crate) mod blktrace_record;
pub(crate) mod blktrace_tables;
pub(crate) mod csv;
pub(crate) mod events;
pub(crate) mod parquet_columns;
mod parquet_pages;
pub(crate) mod parquet_read;
mod parquet_runs;
pub(crate) mod parquet_write;
mod row_log;
pub(crate) mod rows;
pub(crate) mod snoop;
pub(crate) mod tracepoints;
