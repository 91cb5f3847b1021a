//! Files that assay stores for itself: state that survives a crash, and scratch folders that need
//! not.

pub(crate) mod dir;
pub mod file;
pub(crate) mod owner;
pub mod scratch;
