//! Sampling: the trait of monitors, one clock, a grid of ticks, subjects and their series.

pub(super) mod background;
pub(super) mod column;
pub(super) mod grid;
pub(crate) mod monitor;
pub(super) mod recorder;
pub(super) mod scan;
pub(super) mod source;
pub(super) mod state;
pub(super) mod subjects;
pub(super) mod trouble;
