//! An experiment and its plan.

pub(super) mod definition;
pub(super) mod place;
pub(super) mod plan;
pub(super) mod spec;
