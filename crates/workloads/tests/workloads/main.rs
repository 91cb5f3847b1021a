//! Tests of kits in real processes.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests fail by panics and print why they are skipped

mod kit_members;
mod kit_zstd;
mod kits;
mod readers;
