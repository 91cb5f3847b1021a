//! Programs, settings and storage on this machine.
//!
//! A test that starts a process takes a turn alone: a runner ends what its program leaves behind and cannot tell that from
//! another test's child. There can be one daemon of zfs-fuse, too.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests fail by panics and print why they are skipped

mod bench;
mod crash;
mod inherit;
mod process;
mod stacked;
mod storage;
mod storage_kinds;
