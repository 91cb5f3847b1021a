//! Records on disk. Plain files are the truth: a folder for each run with its experiment, plan,
//! system, ledger and trials. The index beside them is a cache for listing, rebuilt at any time.
//!
//! [`Archive`] is the front door: [`Archive::create_run`] gives a [`RunWriter`], whose every trial is
//! durable before the next one starts; [`Archive::run`] gives a [`RunReader`]. `docs/archive.md` has
//! the formats and what they promise.

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
mod identity;
mod import;
mod index;
mod layout;
mod listing;
mod lock;
mod parquet_guard;
mod reader;
mod repair;
mod samples;
mod summary;
mod thrift;
mod verify;
mod wal;
mod writer;

pub use archive::{Archive, Unreadable};
pub use dataset::{DatasetReport, DatasetSamples};
pub use error::{Error, Result};
pub use filter::Filter;
pub use identity::{NewRun, RunIdentity};
pub use reader::RunReader;
pub use verify::{Problem, ProblemKind};
pub use writer::RunWriter;
