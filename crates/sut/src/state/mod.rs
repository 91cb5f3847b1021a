//! What assay keeps on disk for itself: state that survives a crash, and folders for files that need not.

pub(crate) mod dir;
pub mod file;
pub mod scratch;
