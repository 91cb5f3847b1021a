//! Live counting of system calls, aggregated in the kernel by eBPF. [`SyscallWatch`] counts during
//! a trial or a command.

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

use crate::process_filter::ProcessFilter;
use crate::{NotAvailable, Tracer};

/// Options for counting system calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyscallRequest {
    /// Processes whose calls are counted.
    pub whose: ProcessFilter,
    /// True to count each process separately, which needs more memory.
    pub by_process: bool,
}

/// Describes the method by which calls would be counted here, for `assay doctor`.
///
/// # Errors
/// Calls cannot be counted here.
pub fn syscall_ability(root: &Path) -> Result<String, NotAvailable> {
    SyscallWatch::start(root, &SyscallRequest::default())
        .and_then(Tracer::stop)
        .map(|seen| seen.method)
}
