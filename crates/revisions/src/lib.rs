//! The states of a program's source: names and ranges resolved to commits, each checked out in a folder of
//! its own, built once for a tree, a build command, a toolchain and an environment, and kept in a cache with a
//! size limit.
//!
//! The user's repository and work tree are only read: git runs with an index and an object folder of its own,
//! without optional locks, and `git worktree` is not used. `docs/revisions.md` says what a user must know.

mod base;
mod build;
mod cache;
mod checkout;
mod error;
mod git;
mod repository;
mod toolchain;

pub use base::{Base, Why};
pub use build::{Build, Builder, Outcome};
pub use cache::{DEFAULT_LIMIT, sweep};
pub use error::RevisionError;
pub use repository::{Merges, Note, Repository, Revision, WORKTREE};
