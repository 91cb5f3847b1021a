//! Workloads that come with assay, a folder or file each.

pub mod block_size;
pub(super) mod bulkload;
pub(super) mod cae;
pub mod command;
pub(super) mod key_value;
pub(super) mod memcached;
pub(super) mod memory;
pub(super) mod noop;
pub(super) mod orders;
pub(super) mod pointer_chase;
pub(super) mod redis;
pub(super) mod round_trip;
pub(super) mod startup;
pub mod table;
pub(super) mod tlb_sim;
