//! Traces of block I/O in files: formats, answers, damage, cost.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests fail by panics and print why they are skipped

mod allocation;
mod bad_input;
mod formats;
mod hot_spot;
mod io_parquet;
mod mutation;
mod mutations;

/// Read by the tests in `allocation`.
#[global_allocator]
static ALLOCATIONS: assay_testing::Counting = assay_testing::Counting::NEW;
