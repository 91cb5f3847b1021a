//! Merges the parts of several nodes into one record.

mod heat_maps;
mod histograms;
mod record;
mod rule;
mod samples;

pub use record::{Merged, Ways, merge};

#[cfg(test)]
pub(crate) mod tests;
