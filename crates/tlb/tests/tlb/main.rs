//! The simulator of TLBs and TSBs.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // tests fail by panics and print why they are skipped

mod allocation;
mod machines;
mod oracle;
mod sources;

/// Read by the tests in `allocation`.
#[global_allocator]
static ALLOCATIONS: assay_testing::Counting = assay_testing::Counting::NEW;
