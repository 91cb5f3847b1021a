//! Exports of an archive: packed runs and data sets, with redaction.

pub(super) mod dataset;
pub(super) mod pack;
pub(super) mod redact;
