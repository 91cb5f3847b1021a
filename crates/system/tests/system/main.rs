//! Tests of programs, settings and storage on this machine.
//!
//! A test that starts a process must run alone: a runner kills everything that its program leaves
//! behind, and cannot tell it from another test's child. Also, there can be only one zfs-fuse
//! daemon.
// Tests fail by panics, and print why they are skipped.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod bench;
mod crash;
mod inherit;
mod process;
mod stacked;
mod storage;
mod storage_kinds;
