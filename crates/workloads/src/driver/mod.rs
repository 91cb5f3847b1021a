//! Programs of a trial: one, copies that meet at barriers, several side by side.

pub(crate) mod clock;
pub mod copies;
pub(super) mod ipc;
pub(super) mod process_metrics;
pub(super) mod program;
pub(super) mod response_times;
pub(super) mod side_by_side;
pub mod span;
pub mod step;
pub mod work;
