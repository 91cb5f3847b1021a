//! Imports into an archive: packed runs, and results of other tools.

pub mod foreign;
pub(super) mod unpack;
