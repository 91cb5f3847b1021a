//! Merges the parts of several nodes into one record.

mod heat_maps;
mod histograms;
mod record;
mod rule;
mod samples;

pub use histograms::read_histogram;
pub use record::{MergeSettings, MergedTrial, merge};

#[cfg(test)]
pub(crate) mod tests;
