//! Responses: matched to their requests and verified.

pub(super) mod low_water;
pub(super) mod replies;
