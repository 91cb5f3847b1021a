//! Stores benchmark results on disk: runs, trials, their records and samples. Plain files are the
//! truth: each run is a folder with its experiment, plan, system description, ledger and records.
//! The index is only a cache for listing runs and can be rebuilt at any time.
//!
//! [`Archive`] is the entry point: [`Archive::create_run`] returns a [`RunWriter`], and
//! [`Archive::run`] a [`RunReader`]. `kill -9` at any moment loses the running trial and no other.
//! A power failure loses the running trial and, of the earlier ones, only short trials (under a
//! second, without samples) that ended since the last flush. [`RunWriter::write_trial`] flushes
//! them every 1 to 30 seconds; [`Archive::create_run`], [`Archive::resume`] and
//! [`RunWriter::finish`] always flush. `docs/compare/archive.md` describes the formats and their
//! guarantees.

mod error;
mod export;
mod format;
mod import;
mod store;
mod verify;

pub use error::{Error, Result};
pub use export::dataset::DatasetReport;
pub use export::redact::PublishedCopy;
pub use format::identity::{NewRun, RunIdentity};
pub use format::layout::{IO_EVENTS, may_keep};
pub use import::run::{ForeignOptions, ImportError, ImportedRuns};
pub use import::unpack::ImportLimits;
pub use store::folder::Archive;
pub use store::listing::Unreadable;
pub use store::notes::Notes;
pub use store::reader::RunReader;
pub use store::search::{Search, SearchPage, SortOrder};
pub use store::writer::RunWriter;
pub use verify::{Problem, ProblemKind};
