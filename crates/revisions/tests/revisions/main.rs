//! Revisions of a Git repository: names, ranges, builds, the cache.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests fail by panics and print why they are skipped

mod base;
mod repository;
