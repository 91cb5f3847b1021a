//! A virtual machine as a node: QEMU runs a declared kernel over a declared root file system, and the agent in
//! it talks to the collector as one on a node of Slurm does. One runs at a time.

mod accelerator;
mod guest;
mod image;
mod machine;
mod payload;
mod program;

pub use accelerator::{Ability, Accelerator, Choice, ability};
pub use guest::{Guest, GuestRequest};
pub use image::{Image, built, folder};
pub use machine::{Disk, Machine, SETTINGS, Wanted};
pub use payload::Payload;

use crate::ClusterError;

/// No virtual machine, and why.
fn failed(why: impl Into<String>) -> ClusterError {
    ClusterError::Vm(why.into())
}
