//! The server and its pages, and published pages in a browser.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests panic, and print why they are skipped

mod bounds;
mod browser;
#[path = "../common/mod.rs"]
mod common;
mod io_browser;
mod secrets;
mod served;
mod site_browser;
