//! Imports into an archive: packed runs, and results of other tools.

pub(super) mod run;
pub(super) mod unpack;
