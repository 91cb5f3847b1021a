//! Tests of change points in series, and of the search for a commit.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests fail by panics and print why they are skipped

mod bisect;
mod series;
