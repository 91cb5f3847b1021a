//! A virtual machine as a node: QEMU boots a declared kernel with a declared root file system, and
//! the agent in it talks to the collector like an agent on a Slurm node. One machine runs at a
//! time.

mod accelerator;
mod guest;
mod image;
mod machine;
mod payload;
mod program;

pub use accelerator::{Ability, Accelerator, ChosenAccelerator, ability};
pub use guest::{Guest, GuestRequest};
pub use image::{Image, built, folder};
pub use machine::{AcceleratorRequest, Disk, SETTINGS, VmConfig};
pub use payload::Payload;

use crate::ClusterError;

/// Returns the error that no virtual machine can be started, with the reason.
fn failed(why: impl Into<String>) -> ClusterError {
    ClusterError::Vm(why.into())
}
