//! Records on disk: writers, readers, index, search, repair.

pub(super) mod account;
pub(super) mod bundle;
pub(super) mod create;
pub(super) mod folder;
pub(super) mod heads;
pub(super) mod index;
pub(super) mod listing;
pub(super) mod lock;
pub(super) mod notes;
pub(super) mod reader;
pub(super) mod repair;
pub(super) mod search;
pub(super) mod summary;
pub(super) mod trash;
pub(super) mod writer;
