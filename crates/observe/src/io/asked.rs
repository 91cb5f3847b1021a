//! Resolves the names in a question, and describes what of it is recorded.

use std::path::Path;

use assay_traces::block_io::{
    Dimension, Filter, Hints, IoWriter, Measure, NameTable, Question, RecordedFields,
};

use super::devices::BlockDevices;
use crate::NotAvailable;

/// Creates the file of single I/Os.
pub(super) fn writer<'n>(path: &Path, names: &'n NameTable) -> Result<IoWriter<'n>, NotAvailable> {
    let begin = || {
        let mut writer = IoWriter::create(path, names)?;
        writer.set_hints(Hints { sync: true, aio: true });
        writer.encode_at_end().map(|()| writer)
    };
    begin().map_err(|e: assay_traces::block_io::Error| NotAvailable::because(e.to_string()))
}

/// Returns the requested dimensions and measures that are not recorded, as the end of the first
/// line of the answer.
pub(super) fn missing(question: &Question, recorded: RecordedFields) -> String {
    let mut missing: Vec<&str> = question
        .dimensions()
        .into_iter()
        .filter(|d| match d {
            Dimension::Program => !recorded.program,
            Dimension::Pid => !recorded.pid,
            Dimension::File => !recorded.file,
            Dimension::Cgroup => !recorded.cgroup,
            _ => false,
        })
        .map(Dimension::name)
        .collect();
    for measure in &question.histograms {
        let there = match measure {
            Measure::Latency => recorded.latency,
            Measure::Queue | Measure::Device => recorded.queue,
            _ => true,
        };
        if !there {
            missing.push(measure.name());
        }
    }
    if missing.is_empty() {
        String::new()
    } else {
        format!("; not recorded: {}", missing.join(", "))
    }
}

pub(super) fn latency_is(recorded: RecordedFields) -> &'static str {
    if recorded.latency {
        "from the start of the request to its completion; queue until it is issued to the driver, \
         device from there"
    } else {
        "not recorded"
    }
}

/// Resolves names to those that the kernel uses: devices given by a path, files given by a link. A
/// single partition becomes a range of blocks of its disk.
pub(super) fn resolve(filter: &mut Filter, devices: &BlockDevices) -> Result<(), NotAvailable> {
    for file in &mut filter.files {
        if let Ok(path) = std::fs::canonicalize(&file) {
            *file = path.display().to_string();
        }
    }
    let mut names = Vec::new();
    for name in &filter.devices {
        let device = devices.wanted(name)?;
        match (&device.disk, device.first_block, device.blocks) {
            (None, ..) => names.push(device.name.clone()),
            (Some(disk), Some(first), Some(blocks)) if filter.devices.len() == 1 => {
                let last = first + blocks.max(1) - 1;
                let (low, high) = filter.blocks.unwrap_or((first, last));
                filter.blocks = Some((low.max(first), high.min(last)));
                names.push(disk.clone());
            }
            (Some(_), ..) => {
                return Err(NotAvailable::because(format!(
                    "`{name}` is a partition; name one partition, or several whole devices"
                )));
            }
        }
    }
    filter.devices = names;
    Ok(())
}
