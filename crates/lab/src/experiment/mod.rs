//! The experiment: read from its file, with `--set` laid over it, its source and place checked.

pub(crate) mod file;
pub(crate) mod place;
pub(crate) mod prepare;
pub(crate) mod set;
pub(crate) mod source;
