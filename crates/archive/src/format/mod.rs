//! File formats of records: the ledger's chain of hashes, samples, and the layout of a run.

pub(super) mod appender;
pub(super) mod chain;
pub(super) mod columns;
pub(super) mod disk;
pub(super) mod finite;
pub(super) mod identity;
pub(super) mod layout;
pub(super) mod records;
pub(super) mod samples;
pub(super) mod subjects;
