//! What stands for the tracer by eBPF in a build without it: it cannot be had, and reports that.

use std::path::Path;

use assay_iotrace::Names;

use super::way::RunningWay;
use super::{BlockDevices, TraceRequest};
use crate::NotAvailable;

/// Fails: there are no probes.
pub(super) fn start<'n>(
    _: &Path,
    _: &TraceRequest,
    _: BlockDevices,
    _: &'n Names,
) -> Result<RunningWay<'n>, NotAvailable> {
    Err(NotAvailable::because("this assay was built without eBPF (its feature `ebpf`)"))
}
