//! Replacement for the profiler in a build without eBPF: starting it returns an error.

use std::path::Path;

use super::ProfileRequest;
use super::looking::RunningProfiler;
use crate::NotAvailable;

/// Returns an error, since this build has no profiler.
pub(super) fn start(
    _: &Path,
    _: &ProfileRequest,
) -> Result<Box<dyn RunningProfiler>, NotAvailable> {
    Err(NotAvailable::because("this assay was built without eBPF (its feature `ebpf`)"))
}
