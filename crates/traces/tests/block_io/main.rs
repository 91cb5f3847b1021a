//! Tests of block-I/O trace files: formats, answers, damaged input and cost.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests panic and print skips

mod allocation;
mod bad_input;
mod formats;
mod hot_spot;
mod io_parquet;
mod mutation;
mod mutations;

/// Read by the tests in `allocation`.
#[global_allocator]
static ALLOCATIONS: assay_testing::CountingAllocator = assay_testing::CountingAllocator::NEW;
