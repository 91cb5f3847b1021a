//! Queue of jobs: stores them on disk, dispatches them, starts their runs and follows them.

pub(super) mod child;
pub(super) mod dispatch;
pub(super) mod follow;
pub(super) mod job;
pub(super) mod run_outcome;
pub(super) mod store;
