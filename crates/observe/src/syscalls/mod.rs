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

pub use watch::{SyscallWatch, syscall_ability};

use crate::follow::Whose;

/// What is asked of the counting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyscallRequest {
    /// Whose calls.
    pub whose: Whose,
    /// Whether the process is a dimension, which needs more room.
    pub by_process: bool,
}

impl Default for SyscallRequest {
    fn default() -> Self {
        SyscallRequest { whose: Whose::Children, by_process: false }
    }
}
