//! Runs and the machine, live.

pub(super) mod live_run;
pub(super) mod observe;
pub(super) mod observe_io;
