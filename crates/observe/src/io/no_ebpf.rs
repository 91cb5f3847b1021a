//! Replacement for the eBPF tracer in a build without eBPF: starting it returns an error.

use std::path::Path;

use assay_traces::block_io::Names;

use super::way::RunningWay;
use super::{BlockDevices, TraceRequest};
use crate::NotAvailable;

/// Returns an error, since this build has no probes.
pub(super) fn start<'n>(
    _: &Path,
    _: &TraceRequest,
    _: BlockDevices,
    _: &'n Names,
) -> Result<RunningWay<'n>, NotAvailable> {
    Err(NotAvailable::because("this assay was built without eBPF (its feature `ebpf`)"))
}
