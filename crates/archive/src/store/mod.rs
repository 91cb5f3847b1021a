//! Records on disk: layout, writers, readers, index, search.

pub(super) mod account;
pub(super) mod appender;
pub(super) mod bundle;
pub(super) mod columns;
pub(super) mod create;
pub(super) mod disk;
pub(super) mod filter;
pub(super) mod folder;
pub(super) mod heads;
pub(super) mod index;
pub(super) mod layout;
pub(super) mod listing;
pub(super) mod lock;
pub(super) mod notes;
pub(super) mod reader;
pub(super) mod records;
pub(super) mod samples;
pub(super) mod search;
pub(super) mod subjects;
pub(super) mod summary;
pub(super) mod trash;
pub(super) mod writer;
