//! Checks that there is enough room: memory, swap, disk.

use assay_model::{Observation, Subject};

use super::{FitnessObservations, Options};
use crate::Root;
use crate::describe::meminfo_bytes;

pub(super) fn look(root: &Root, options: &Options, seen: &mut FitnessObservations) {
    match root.text("/proc/meminfo") {
        Ok(info) => {
            if let Some([total, available]) =
                both(&info, "memory", "MemTotal", "MemAvailable", seen)
            {
                seen.add(Observation::Memory { available, total });
            }
            if let Some([total, free]) = both(&info, "swap", "SwapTotal", "SwapFree", seen) {
                seen.add(Observation::Swap { used: total.saturating_sub(free) });
            }
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

/// Returns two amounts of `/proc/meminfo`; `what` is unknown if one is missing.
fn both(
    info: &str,
    what: &str,
    first: &str,
    second: &str,
    seen: &mut FitnessObservations,
) -> Option<[u64; 2]> {
    let found = meminfo_bytes(info, first).zip(meminfo_bytes(info, second));
    if found.is_none() {
        let reason = format!("`/proc/meminfo` has no {first} or no {second}");
        seen.cannot(Subject::OtherWork, what, &reason);
    }
    found.map(|(first, second)| [first, second])
}
