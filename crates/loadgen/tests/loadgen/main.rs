//! Tests of the load generator against a real memcached, a real Redis and servers that misbehave.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // tests panic, and print why they skip

mod allocation;
mod faults;
mod memcached;
mod redis;
mod search;
mod support;
mod tls;

/// Counting allocator for the tests in `allocation`.
#[global_allocator]
static ALLOCATIONS: assay_testing::CountingAllocator = assay_testing::CountingAllocator::NEW;
