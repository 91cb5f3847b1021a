//! From events to whole I/Os.

pub(super) mod completeness;
pub(super) mod event;
pub(super) mod inflight;
pub(super) mod matcher;
