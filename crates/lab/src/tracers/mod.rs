//! Tracers of a trial, one file each.

pub(super) mod block_io;
pub(super) mod counters;
pub(super) mod instructions;
pub(super) mod live_profile;
pub(super) mod profile;
pub(super) mod running_tracer;
pub(super) mod syscalls;
