//! The server and its pages: its API, its queue, who is let in, and what a real browser makes of it. One program, since
//! many of its tests wait, for a run or a timeout, while others have the CPUs (`scripts/test-program`).
#![allow(clippy::unwrap_used, clippy::print_stdout)] // this is a test; says why one is skipped

mod a_run_goes_on;
mod accessible;
mod api;
mod archive;
mod browser;
#[path = "../common/mod.rs"]
mod common;
mod disk;
mod guard;
mod histories;
mod submit;
