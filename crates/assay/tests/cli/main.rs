//! Tests of the command line on files: quick, without servers or devices.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests panic, and print why they are skipped

mod action;
mod audit;
mod bad_input;
mod checks;
mod circles;
mod claims;
#[path = "../common/mod.rs"]
mod common;
mod docs;
mod escapes;
mod first_use;
mod foreign;
mod labels;
mod landscape;
mod memory;
mod new;
mod option_effects;
mod options;
mod orders;
mod posts;
mod publication;
mod released;
mod revision_faults;
mod revisions;
mod rules;
mod site;
mod speccpu;
mod specjbb;
mod suite;
mod suites;
mod surroundings;
mod tamper;
mod tlb;
mod unlike;
mod verbs;
