//! What stands for the profiler in a build without eBPF: it cannot be had, and reports that.

use std::path::Path;

use super::ProfileRequest;
use super::looking::Looking;
use crate::NotAvailable;

/// There is none.
pub(super) fn start(_: &Path, _: &ProfileRequest) -> Result<Box<dyn Looking>, NotAvailable> {
    Err(NotAvailable::because("this assay was built without eBPF (its feature `ebpf`)"))
}
