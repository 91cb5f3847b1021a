//! Records on disk. Plain files are the truth: a folder for each run with its experiment, plan,
//! system, ledger and records. The index beside them is a cache for listing, rebuilt at any time.
//!
//! [`Archive`] is the front door: [`Archive::create_run`] gives a [`RunWriter`], and
//! [`Archive::run`] a [`RunReader`]. `kill -9` at any moment loses the trial that was running and no
//! other. A lost power loses that one too, and of those before it only trials that ended within a
//! second after the last flush: [`RunWriter::write_trial`] flushes when the flush before was a second
//! ago or longer, [`Archive::create_run`], [`Archive::resume`] and [`RunWriter::finish`] always.
//! `docs/archive.md` has the formats and what they promise.

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
