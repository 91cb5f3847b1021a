//! Tests of rule packs and of landscapes of published results.
// Tests fail by panics, and print why they are skipped.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod landscape_published;
mod pack;
