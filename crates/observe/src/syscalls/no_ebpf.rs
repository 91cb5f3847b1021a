//! What stands for the counting of system calls in a build without eBPF: its error states that.

use std::convert::Infallible;
use std::path::Path;

use assay_syscalls::Syscalls;

use super::SyscallRequest;
use crate::NotAvailable;

/// There is none.
#[derive(Debug)]
pub struct SyscallWatch(Infallible);

impl SyscallWatch {
    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn start(_: &Path, _: &SyscallRequest) -> Result<Self, NotAvailable> {
        Err(NotAvailable::because("this assay was built without eBPF (its feature `ebpf`)"))
    }

    /// The measured part begins now.
    pub fn begin(&mut self) {
        match self.0 {}
    }

    /// It ends now.
    pub fn end(&mut self) {
        match self.0 {}
    }

    /// What was counted.
    pub fn stop(self) -> Syscalls {
        match self.0 {}
    }
}
