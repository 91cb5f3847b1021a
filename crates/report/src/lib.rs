//! Writes reports of assay's runs: tables for a terminal, Markdown, CSV, JSON, hyperfine's JSON,
//! JUnit XML and a self-contained HTML page, as well as histories over revisions and landscapes.
//!
//! The content of a report is built once from a [`RunView`], as the parts of a document (`parts`,
//! `document`), and then written by a renderer for each output; `assay_model::units` formats the
//! numbers. Everything that is published (Markdown, CSV, the page) first passes through the
//! [`Gate`], which withholds a number that carries a finding of severity *invalid*.
//!
//! | module | output |
//! |---|---|
//! | [`terminal`] | tables and summaries of a given width |
//! | [`formats::markdown`] | the run as a Markdown page |
//! | [`formats::csv`] | one row for each trial and metric, curve points, summaries |
//! | [`exports`] | table of the formats that a run can be written in |
//! | [`formats::json`] | everything, for programs |
//! | `formats::hyperfine` | hyperfine's export format |
//! | [`formats::benchstat`] | Go's benchmark format |
//! | [`formats::junit`] | test cases for a CI server |
//! | [`page`] | the HTML page |
//! | [`history`] | a metric over revisions: Markdown and pages |
//! | [`landscape`] | a landscape as CSV and Markdown |

pub mod document;
pub mod exports;
pub mod figures;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
pub mod formats;
mod gate;
pub mod history;
mod inside;
pub mod landscape;
pub mod merged_sentences;
pub mod page;
pub mod parts;
mod percentiles;
mod run_pairs;
mod short_labels;
mod shown_comparison;
mod style;
pub mod terminal;
mod tracers;
mod view;
#[cfg(test)]
mod virtual_machine_label;
pub mod words;

pub use figures::ratio_text;
pub use gate::{Gate, WithheldResult};
pub use inside::{TreatmentProfiles, inside};
pub use parts::benchmarks::only_one_side;
pub use parts::headline::{block_s, headline, needed};
pub use view::{LedgerHead, RunView};
pub use words::{SMOOTHNESS, method, verdict};
