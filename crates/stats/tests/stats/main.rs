//! Tests of intervals, verdicts and curves against published values and by simulation.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests panic and print skips

mod compare;
mod coverage;
mod coverage_table;
mod curve;
mod simulation;
