//! What stands for the profiler in a build without eBPF: it cannot be had, and says so.

use std::convert::Infallible;
use std::path::Path;

use assay_profile::Profile;

use super::ProfileRequest;
use crate::NotAvailable;

/// There is none.
pub(super) struct Profiler(Infallible);

impl Profiler {
    pub fn start(_: &Path, _: &ProfileRequest) -> Result<Self, NotAvailable> {
        Err(NotAvailable::because("this assay was built without eBPF (its feature `ebpf`)"))
    }

    pub fn poll(&mut self) {
        match self.0 {}
    }

    pub fn begin(&mut self) {
        match self.0 {}
    }

    pub fn end(&mut self) {
        match self.0 {}
    }

    pub fn stop(&mut self) {
        match self.0 {}
    }

    pub fn profile(&self) -> Profile {
        match self.0 {}
    }
}
