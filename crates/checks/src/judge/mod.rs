//! The functions that evaluate the checks, grouped by the evidence they use.

mod trend;

pub(crate) mod audit;
pub(crate) mod claims;
pub(crate) mod cold;
pub(crate) mod design;
pub(crate) mod environment;
pub(crate) mod interval;
pub(crate) mod machine;
pub(crate) mod measurement;
pub(crate) mod memory_nodes;
pub mod modes;
pub(crate) mod nodes;
pub(crate) mod presentation;
pub(crate) mod publication;
pub(crate) mod quantities;
pub(crate) mod resources;
pub(crate) mod statistics;
pub(crate) mod wording;
pub(crate) mod workload;
