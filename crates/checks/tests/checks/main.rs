//! Tests of the catalogue of checks.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests fail by panics and print why they are skipped

mod catalogue;
mod one_place;
