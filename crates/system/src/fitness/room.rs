//! Checks that there is enough room: memory, swap, disk.

use assay_model::{Observation, Subject};

use super::{FitnessObservations, Options};
use crate::Root;
use crate::describe::meminfo_bytes;

pub(super) fn look(root: &Root, options: &Options, seen: &mut FitnessObservations) {
    match root.text("/proc/meminfo") {
        Ok(info) => {
            memory(&info, seen);
            swap(&info, seen);
        }
        Err(e) => seen.cannot(Subject::OtherWork, "memory and swap", &e.to_string()),
    }
    if let Some(dir) = &options.work_dir {
        match rustix::fs::statvfs(dir) {
            Ok(fs) => seen.add(Observation::DiskRoom {
                folder: dir.display().to_string(),
                free: fs.f_bavail.saturating_mul(fs.f_frsize),
                total: fs.f_blocks.saturating_mul(fs.f_frsize),
            }),
            Err(e) => seen.cannot(
                Subject::Stability,
                &format!("the room on the file system of `{}`", dir.display()),
                &std::io::Error::from(e).to_string(),
            ),
        }
    }
}

fn memory(info: &str, seen: &mut FitnessObservations) {
    let (Some(total), Some(available)) =
        (meminfo_bytes(info, "MemTotal"), meminfo_bytes(info, "MemAvailable"))
    else {
        return seen.cannot(
            Subject::OtherWork,
            "memory",
            "`/proc/meminfo` has no MemTotal or no MemAvailable",
        );
    };
    seen.add(Observation::Memory { available, total });
}

fn swap(info: &str, seen: &mut FitnessObservations) {
    let (Some(total), Some(free)) =
        (meminfo_bytes(info, "SwapTotal"), meminfo_bytes(info, "SwapFree"))
    else {
        return seen.cannot(
            Subject::OtherWork,
            "swap",
            "`/proc/meminfo` has no SwapTotal or no SwapFree",
        );
    };
    seen.add(Observation::Swap { used: total.saturating_sub(free) });
}
