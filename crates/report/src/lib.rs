//! What assay shows of a run: tables for a terminal, Markdown, CSV, JSON, hyperfine's JSON, JUnit XML
//! and one self-contained HTML page. What they show is built once, as parts of a document (`parts`,
//! `document`), from a [`RunView`]; numbers are written by `assay_model::units`. What is published (Markdown,
//! CSV, the page) passes through the [`Gate`] first: a number that carries a finding of severity
//! *invalid* is withheld.
//!
//! | module | what it writes |
//! |---|---|
//! | [`terminal`] | tables and summaries of a given width |
//! | [`markdown`] | the run as a Markdown page |
//! | [`csv`] | one row for each trial and metric, curve points, summaries |
//! | [`format`] | the formats of a run, a row each |
//! | [`json`] | everything, for programs |
//! | [`hyperfine`] | hyperfine's export format |
//! | [`junit`] | test cases for a CI server |
//! | [`page`] | the HTML page |
//! | [`history`] | a metric over revisions: Markdown and pages |
//! | [`post`] | templates with computed numbers, as posts |
//! | [`landscape`] | a landscape as CSV and Markdown |
//! | [`site`] | the pages around those of runs and posts: lists, feeds, search |

mod alike;
mod apart;
pub mod benchstat;
pub mod csv;
mod document;
mod figures;
#[cfg(test)]
mod fixtures;
pub mod format;
mod gate;
mod headline;
pub mod history;
mod hyperfine;
#[cfg(test)]
mod in_a_guest;
mod inside;
pub mod json;
pub mod junit;
pub mod landscape;
pub mod markdown;
pub mod page;
mod parts;
mod percentiles;
pub mod post;
pub mod reproduce;
pub mod site;
mod style;
pub mod terminal;
mod view;
mod words;

pub use gate::{Gate, Withheld};
pub use headline::{block_s, headline, needed};
pub use inside::{Inside, inside};
pub use view::{LedgerHead, RunView};
pub use words::{SMOOTHNESS, method, verdict};
