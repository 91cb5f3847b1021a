//! Jobs: kept on disk, dispatched, run and followed.

pub(super) mod child;
pub(super) mod dispatch;
pub(super) mod follow;
pub(super) mod job;
pub(super) mod run_outcome;
pub(super) mod store;
