//! Experiments: reading the file, applying `--set`, and checking its source and where it runs.

pub(crate) mod file;
pub(crate) mod place;
pub(crate) mod prepare;
pub(crate) mod set;
pub(crate) mod source;
