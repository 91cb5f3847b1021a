//! Tests of the load generator against a real memcached and against servers that misbehave.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // tests fail by panics and print why they are skipped

mod allocation;
mod faults;
mod memcached;
mod search;
mod support;
mod tls;

/// Counting allocator for the tests in `allocation`.
#[global_allocator]
static ALLOCATIONS: assay_testing::Counting = assay_testing::Counting::NEW;
