//! Records on disk: bundles, the ledger, the index.
