//! Turns submissions into jobs of the queue.

pub(super) mod draft;
pub(super) mod folders;
pub(super) mod form;
pub(super) mod overrides;
pub(super) mod points;
pub(super) mod submission;
