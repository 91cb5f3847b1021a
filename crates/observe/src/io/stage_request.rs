//! What is asked and reported of stages, whether or not this build can see them.

use assay_iotrace::DeviceStages;
use serde::Serialize;

use super::devices::BlockDevices;
use crate::NotAvailable;

/// The stages of a stretch of time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StagesSeen {
    /// By device, those with most I/Os first.
    pub devices: Vec<DeviceStages>,
    /// Events that were lost: the stages that they belong to are of fewer I/Os.
    pub lost: u64,
    /// What this kernel does not tell.
    pub not_recorded: Vec<&'static str>,
}

/// The numbers of the whole disks that are named; a partition stands for its disk.
#[cfg_attr(not(feature = "ebpf"), allow(dead_code))] // there is nothing to watch them with
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
