//! Tests of the simulator of TLBs and TSBs.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // tests panic and print skips

mod allocation;
mod machines;
mod oracle;
mod sources;

/// Read by the tests in `allocation`.
#[global_allocator]
static ALLOCATIONS: assay_testing::CountingAllocator = assay_testing::CountingAllocator::NEW;
