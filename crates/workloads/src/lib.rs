//! The programs that assay can measure: the built-in workloads, and the loader of kits and suites,
//! which turn outside programs into workloads.
//!
//! A workload describes itself as data ([`assay_model::WorkloadSpec`]), prepares its inputs,
//! returns the command to start, and extracts metrics from the results. Optional abilities are
//! traits in [`capability`]. The lab runs the trials. A built-in workload has a folder and a row in
//! [`builtin`]; its program is assay itself, started in a fresh process for every trial (`assay
//! __work NAME JSON`).

pub mod builtin;
pub mod capability;
mod declare;
pub mod driver;
mod error;
mod failure;
pub mod kit;
mod pattern;
mod problem;
pub mod readers;
pub mod registry;
pub mod suite;
mod trial;
mod trial_spec;
mod words;
mod workload;

pub use builtin::command::Command;
pub use builtin::noop::Noop;
pub use capability::Capabilities;
pub use error::WorkloadError;
pub use failure::Failure;
pub use pattern::{Pattern, PatternError};
pub use registry::{KitPaths, find};
pub use trial::{CollectedResults, FinishedProgram, KEEP, Launch, TrialContext};
pub use words::{WordsError, quote_words, split_words};
pub use workload::Workload;
