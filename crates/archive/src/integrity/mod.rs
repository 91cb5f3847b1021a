//! Integrity of records: the ledger's chain of hashes, verification, repair.

pub(super) mod chain;
pub(super) mod finite;
pub(super) mod identity;
pub(super) mod repair;
pub(super) mod verify;
