//! Exports of an archive: packed runs and data sets, with redaction.

pub(super) mod columns;
pub(super) mod dataset;
pub(super) mod filter;
pub(super) mod pack;
pub(super) mod redact;
pub(super) mod samples;
pub(super) mod subjects;
