//! Stores benchmark results on disk: runs, trials, their records and samples. Plain files are the
//! truth: each run is a folder with its experiment, plan, system description, ledger and records.
//! The index is only a cache for listing runs and can be rebuilt at any time.
//!
//! [`Archive`] is the entry point: [`Archive::create_run`] returns a [`RunWriter`], and
//! [`Archive::run`] a [`RunReader`]. `kill -9` at any moment loses the running trial and no other.
//! A power failure loses the running trial and, of the earlier ones, only short trials (under a
//! second, without samples) that ended since the last flush. [`RunWriter::write_trial`] flushes
//! them every 1 to 30 seconds; [`Archive::create_run`], [`Archive::resume`] and
//! [`RunWriter::finish`] always flush. `docs/archive.md` describes the formats and their
//! guarantees.

mod account;
mod appender;
mod archive;
mod bundle;
mod chain;
mod columns;
mod create;
mod dataset;
mod disk;
mod error;
mod export;
mod filter;
mod finite;
pub mod foreign;
mod heads;
mod identity;
mod import;
mod index;
mod layout;
mod listing;
mod lock;
mod notes;
mod reader;
mod records;
mod redact;
mod repair;
mod samples;
mod search;
mod subjects;
mod summary;
mod trash;
mod verify;
mod writer;

pub use archive::Archive;
pub use dataset::{DatasetReport, DatasetSamples};
pub use error::{Error, Result};
pub use filter::Filter;
pub use identity::{NewRun, RunIdentity};
pub use import::ImportLimits;
pub use layout::{INSTRUCTIONS, IO, IO_EVENTS, SYSCALLS, may_keep};
pub use listing::Unreadable;
pub use notes::Notes;
pub use reader::RunReader;
pub use redact::Published;
pub use search::{Found, Search, Sort};
pub use verify::{Problem, ProblemKind};
pub use writer::RunWriter;
