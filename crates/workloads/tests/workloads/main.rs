//! Tests of kits in real processes.
// Tests fail by panics, and print why they are skipped.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod kit_members;
mod kit_zstd;
mod kits;
mod readers;
