//! Request for and result of stage tracing, shared by builds with and without eBPF.

use assay_traces::block_io::DeviceStages;
use serde::Serialize;

use super::devices::BlockDevices;
use crate::NotAvailable;

/// Stages of the I/Os of one observation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ObservedStages {
    /// Stages by device, the device with most I/Os first.
    pub devices: Vec<DeviceStages>,
    /// Number of lost events: the affected stages cover fewer I/Os.
    pub lost: u64,
    /// Stages that this kernel does not report.
    pub not_recorded: Vec<&'static str>,
}

/// Returns the device numbers of the named disks; for a partition, that of its disk.
#[cfg_attr(not(feature = "ebpf"), allow(dead_code))] // unused without eBPF
pub(super) fn wanted(
    devices: &BlockDevices,
    names: &[String],
    most: usize,
) -> Result<Vec<u32>, NotAvailable> {
    if names.len() > most {
        return Err(NotAvailable::because(format!("a live filter names at most {most} devices")));
    }
    let number = |name: &String| {
        let device = devices.wanted(name)?;
        let disk = device.disk.as_ref().and_then(|disk| devices.find(disk));
        Ok(disk.unwrap_or(device).number())
    };
    names.iter().map(number).collect()
}
