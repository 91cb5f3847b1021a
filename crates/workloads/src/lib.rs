//! The programs that assay can measure: the built-in workloads, and the loader of kits and suites,
//! which turn outside programs into workloads.
//!
//! A workload describes itself as data ([`assay_model::WorkloadSpec`]), prepares its inputs,
//! returns the command to start, and extracts metrics from the results. Optional abilities are
//! traits in [`capability`]. The lab runs the trials. A built-in workload has a folder and a row in
//! [`builtin`]; its program is assay itself, started in a fresh process for every trial (`assay
//! __work NAME JSON`).

pub mod block_size;
pub mod builtin;
mod bulkload;
mod cae;
pub mod capability;
mod command;
pub mod copies;
mod declare;
mod failure;
mod ipc;
pub mod kit;
mod memcached;
mod noop;
mod orders;
mod pointer_chase;
mod process_metrics;
mod program;
pub mod readers;
pub mod registry;
mod round_trip;
mod side_by_side;
pub mod span;
mod startup;
mod step;
pub mod suite;
mod tlb_sim;
mod trial_spec;
mod words;
pub mod work;
mod workload;

pub use capability::Offers;
pub use command::Command;
pub use failure::Failure;
pub use noop::Noop;
pub use registry::{KitPaths, find};
pub use words::{WordsError, quote_words, split_words};
pub use workload::{Collected, Finished, KEEP, Launch, TrialContext, Workload, WorkloadError};
