//! Intervals, verdicts and curves against published values and by simulation.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests fail by panics and print why they are skipped

mod compare;
mod coverage;
mod coverage_table;
mod curve;
mod simulation;
