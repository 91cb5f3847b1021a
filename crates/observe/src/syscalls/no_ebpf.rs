//! Replacement for the counting of system calls in a build without eBPF: starting it returns an
//! error.

use std::convert::Infallible;
use std::path::Path;

use assay_traces::syscalls::Syscalls;

use super::SyscallRequest;
use crate::NotAvailable;

/// Type without values: counting never starts in this build.
#[derive(Debug)]
pub struct SyscallWatch(Infallible);

impl SyscallWatch {
    /// Returns an error, since this build has no eBPF.
    ///
    /// # Errors
    /// Always.
    pub fn start(_: &Path, _: &SyscallRequest) -> Result<Self, NotAvailable> {
        Err(NotAvailable::because("this assay was built without eBPF (its feature `ebpf`)"))
    }

    pub fn begin(&mut self) {
        match self.0 {}
    }

    pub fn end(&mut self) {
        match self.0 {}
    }

    pub fn stop(self) -> Syscalls {
        match self.0 {}
    }
}
