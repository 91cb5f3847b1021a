//! The archive from outside: what it keeps, through crashes, full disks and foreign files.

// Helpers of tests are tests: what fails in them fails the test, and they say what is skipped.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod bundle;
mod child;
mod crash;
mod dataset;
mod fixture;
mod foreign;
mod full_disk;
mod kept;
mod listing;
mod runs;
mod tamper;
