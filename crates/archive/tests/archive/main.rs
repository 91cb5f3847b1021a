//! The archive from outside: what it keeps, through crashes, full disks and foreign files.

// Helpers of tests are tests: what fails in them fails the test.
#![allow(clippy::unwrap_used)]

mod bundle;
mod crash;
mod dataset;
mod fixture;
mod full_disk;
mod listing;
mod runs;
