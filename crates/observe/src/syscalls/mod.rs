//! System calls as they happen, added up in the kernel by eBPF. [`SyscallWatch`] looks beside a trial or a
//! command.

#[cfg(feature = "ebpf")]
mod abi;
#[cfg(feature = "ebpf")]
mod probes;
#[cfg(feature = "ebpf")]
mod watch;
#[cfg(not(feature = "ebpf"))]
#[path = "no_ebpf.rs"]
mod watch;

use std::path::Path;

pub use watch::SyscallWatch;

use crate::NotAvailable;
use crate::follow::Whose;

/// What is asked of the counting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyscallRequest {
    /// Whose calls.
    pub whose: Whose,
    /// Whether the process is a dimension, which needs more room.
    pub by_process: bool,
}

/// How calls would be counted here, for `assay doctor`.
///
/// # Errors
/// They cannot be.
pub fn syscall_ability(root: &Path) -> Result<String, NotAvailable> {
    SyscallWatch::start(root, &SyscallRequest::default()).map(|watch| watch.stop().method)
}
