//! Experiments: reading the file, applying `--set`, and checking its source, place and hooks.

pub(crate) mod file;
pub(crate) mod hooks;
pub(crate) mod place;
pub(crate) mod set;
pub(crate) mod source;
