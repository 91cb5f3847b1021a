//! Tests of the archive's public interface, including crashes, full disks and files of other
//! programs.

// A failure in a helper fails its test, and tests print why they are skipped.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod bundle;
mod child;
mod crash;
mod dataset;
mod fixture;
mod full_disk;
mod imported;
mod kept;
mod listing;
mod runs;
mod tamper;
