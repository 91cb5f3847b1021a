//! Tests of change points in series, and of the search for a commit.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests may panic, and print why they skip

mod bisect;
mod series;
