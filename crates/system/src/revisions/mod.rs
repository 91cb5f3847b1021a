//! Resolves and builds revisions of a git repository. Names and ranges are resolved to commits.
//! Each commit is checked out in a separate folder, built once for each combination of tree, build
//! command, toolchain and environment, and kept in a cache with a size limit.
//!
//! The user's repository and work tree are only read: git runs with a separate index and object
//! folder and without optional locks, and `git worktree` is not used. `docs/track/revisions.md` is
//! the documentation for users.

mod base;
mod build;
mod cache;
mod checkout;
mod error;
mod git;
mod repository;
mod toolchain;

pub use base::{Base, BaseReason};
pub use build::{Build, BuildOutcome, Builder};
pub use cache::{DEFAULT_LIMIT, sweep};
pub use error::RevisionError;
pub use repository::{Merges, Note, Repository, Revision, WORKTREE};
