//! Series of runs: changes, and the search for one.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests fail by panics and print why they are skipped

mod bisect;
mod series;
