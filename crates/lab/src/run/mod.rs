//! The course of a run: locks, fitness, trials in order, stop rules.

pub(super) mod context;
pub(super) mod describe;
pub(super) mod finished_trials;
pub(super) mod fitness;
pub(super) mod lab;
pub(super) mod run_lock;
pub(super) mod session;
pub(super) mod stop;
