//! The course of a run: trials in order, stop rules.

pub(super) mod finished_trials;
pub(super) mod lab;
pub(super) mod session;
pub(super) mod stop;
