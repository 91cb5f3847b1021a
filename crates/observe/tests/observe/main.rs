//! Tests the monitors, the sampler and the tracers from outside: against this machine's own
//! counters, against bytes that no kernel would write, against other tools, and against their
//! documentation.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests fail by panics and print skips

mod allocation;
mod bytes;
mod docs;
mod io_live;
mod iostat;
mod live;
mod profile_live;
mod runqueue_live;
mod sampler;
mod syscalls_live;

/// Counts allocations for the test in `allocation`.
#[global_allocator]
static ALLOCATIONS: assay_testing::CountingAllocator = assay_testing::CountingAllocator::NEW;
