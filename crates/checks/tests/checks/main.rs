//! Tests of the catalogue of checks.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests panic, and print why they skip

mod catalogue;
mod one_place;
