//! Tests of revisions of a Git repository: names, ranges, builds and the cache.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests may panic, and print why they skip

mod base;
mod repository;
