//! Contents and due times of requests: keys, values, mix, schedule.

pub mod content;
pub(super) mod keys;
pub mod mix;
pub(super) mod pace;
pub(super) mod schedule;
