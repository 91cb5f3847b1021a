//! One record of the parts of several nodes.

mod heat_maps;
mod histograms;
mod record;
mod rule;
mod samples;

pub use record::{Merged, Ways, merge};

#[cfg(test)]
pub(crate) mod tests;
