//! Translates a question and its filter to the probes' configuration.

use assay_traces::block_io::{Filter, Measure, Op};

use super::abi::{self, COMM, IoProbeConfig, MAX_DEVICES, MAX_NAMES, REGIONS};
use super::cgroups::Cgroups;
use super::devices::BlockDevices;
use crate::NotAvailable;

/// Memory limit for the counts of all groups on all CPUs, bytes.
const CELLS_BYTES: usize = 64 << 20;

/// Returns the number of groups for which the probes have room.
pub(super) fn groups(events: bool, regions: bool, cpus: usize) -> u32 {
    if events {
        return 1;
    }
    let one = size_of::<abi::IoCounts>() + if regions { size_of::<abi::RegionCounts>() } else { 0 };
    (CELLS_BYTES / (one * cpus.max(1))).clamp(32, 512) as u32
}

/// Returns the power-of-two histograms that are counted, as a bit mask.
pub(super) fn rows(measures: &[Measure]) -> u8 {
    measures.iter().filter_map(|m| row_of(*m)).fold(0, |bits, row| bits | 1 << row)
}

/// Returns the row of the power-of-two histogram of a measure; `None` if the measure is counted in
/// another way.
pub(super) fn row_of(measure: Measure) -> Option<usize> {
    match measure {
        Measure::Size => Some(0),
        Measure::Latency => Some(1),
        Measure::Queue => Some(2),
        Measure::Device => Some(3),
        Measure::Address => None,
    }
}

/// Returns the shift that maps a block, counted from the first of `blocks`, to its region: the
/// smallest that gives at most [`REGIONS`] regions.
pub(super) fn shift_of(blocks: u64) -> u32 {
    let last = blocks.max(1) - 1;
    (64 - last.leading_zeros()).saturating_sub(REGIONS.ilog2())
}

/// Writes a filter to the configuration; returns the numbers of the devices that it names.
pub(super) fn filter(
    config: &mut IoProbeConfig,
    filter: &Filter,
    devices: &BlockDevices,
    cgroups: &mut Cgroups,
) -> Result<Vec<u32>, NotAvailable> {
    let too_many = |what: &str, most: usize| {
        NotAvailable::because(format!("a live filter names at most {most} {what}"))
    };
    if filter.devices.len() > MAX_DEVICES {
        return Err(too_many("devices", MAX_DEVICES));
    }
    let names = [filter.programs.len(), filter.pids.len(), filter.cgroups.len()];
    if names.iter().any(|n| *n > MAX_NAMES) {
        return Err(too_many("programs, processes or control groups", MAX_NAMES));
    }
    let mut wanted = Vec::new();
    for (at, name) in filter.devices.iter().enumerate() {
        let device = devices.wanted(name)?;
        config.devices[at] = device.number();
        wanted.push(device.number());
    }
    config.n_devices = wanted.len() as u32;
    for (at, name) in filter.programs.iter().enumerate() {
        let bytes = &name.as_bytes()[..name.len().min(COMM - 1)];
        config.programs[at][..bytes.len()].copy_from_slice(bytes);
    }
    config.n_programs = filter.programs.len() as u32;
    config.pids[..filter.pids.len()].copy_from_slice(&filter.pids);
    config.n_pids = filter.pids.len() as u32;
    for (at, path) in filter.cgroups.iter().enumerate() {
        config.cgroups[at] = cgroups
            .id(path)
            .ok_or_else(|| NotAvailable::because(format!("there is no control group `{path}`")))?;
    }
    config.n_cgroups = filter.cgroups.len() as u32;
    config.only_reads = u8::from(filter.op == Some(Op::Read));
    config.only_writes = u8::from(filter.op == Some(Op::Write));
    if let Some((first, last)) = filter.blocks {
        (config.first_block, config.last_block) = (first, last);
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_has_at_most_1024_regions() {
        for blocks in [1u64, 1000, 1024, 1025, 500_000, 1 << 40] {
            let shift = shift_of(blocks);
            assert!((blocks - 1) >> shift < 1024, "{blocks}");
            assert!(shift == 0 || (blocks - 1) >> (shift - 1) >= 1024, "{blocks}");
        }
    }
}
