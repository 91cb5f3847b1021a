//! Queue of jobs, stored on disk, and the processes that run them.

pub(super) mod child;
pub(super) mod job;
pub(super) mod shared;
pub(super) mod store;
