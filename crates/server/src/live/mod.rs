//! Live views of runs and of the machine.

pub(super) mod live_run;
pub(super) mod observe;
pub(super) mod observe_io;
