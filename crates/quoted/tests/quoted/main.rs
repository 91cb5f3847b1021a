//! Tests of rule packs and of landscapes of published results.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests fail by panics and print why they are skipped

mod landscape_published;
mod pack;
