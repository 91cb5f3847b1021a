//! Tracers in the reports: a row for each has the tab of a run's page and of a comparison's page,
//! and the differences between two treatments.
//!
//! A tracer is a file here, and a line in [`TRACERS`].

pub(crate) mod block_io;
mod instructions;
pub(crate) mod profile;
mod runqueue;
pub(crate) mod syscalls;
mod trial_groups;
pub(crate) mod view;

use view::TracerView;

/// Tracers in the order of their tabs.
pub(crate) const TRACERS: [&TracerView; 5] =
    [&block_io::VIEW, &profile::VIEW, &instructions::VIEW, &syscalls::VIEW, &runqueue::VIEW];
