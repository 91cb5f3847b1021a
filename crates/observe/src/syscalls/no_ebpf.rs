//! Replacement for the counting of system calls in a build without eBPF: starting it returns an
//! error.

use std::convert::Infallible;
use std::path::Path;

use assay_traces::syscalls::{FILE, Syscalls};

use super::SyscallRequest;
use crate::{NotAvailable, Tracer};

/// Type without values: counting never starts in this build.
#[derive(Debug)]
pub struct SyscallWatch(Infallible);

impl Tracer for SyscallWatch {
    const NAME: &'static str = FILE.tracer;
    const FILE: &'static str = FILE.name;
    type Request = SyscallRequest;
    type Trace = Syscalls;

    fn request(listed: &str) -> Option<SyscallRequest> {
        (listed == FILE.tracer).then(SyscallRequest::default)
    }

    fn start(_: &Path, _: &SyscallRequest) -> Result<Self, NotAvailable> {
        Err(NotAvailable::because("this assay was built without eBPF (its feature `ebpf`)"))
    }

    fn begin(&mut self) {
        match self.0 {}
    }

    fn end(&mut self) {
        match self.0 {}
    }

    fn stop(self) -> Result<Syscalls, NotAvailable> {
        match self.0 {}
    }
}
