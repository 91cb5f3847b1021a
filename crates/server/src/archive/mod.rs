//! Queries and saved searches of the archive.

pub(super) mod query;
pub(super) mod ranked;
pub(super) mod searches;
