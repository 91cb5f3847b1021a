//! Replacement for the eBPF tracer in a build without eBPF: starting it returns an error.

use std::path::Path;

use assay_traces::block_io::NameTable;

use super::way::BoxedMethod;
use super::{BlockDevices, TraceRequest};
use crate::NotAvailable;

/// Returns an error, since this build has no probes.
pub(super) fn start<'n>(
    _: &Path,
    _: &TraceRequest,
    _: BlockDevices,
    _: &'n NameTable,
) -> Result<BoxedMethod<'n>, NotAvailable> {
    Err(NotAvailable::because("this assay was built without eBPF (its feature `ebpf`)"))
}
