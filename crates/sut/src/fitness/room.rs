//! Is there room? Memory, swap, disk.

use assay_model::units::format_value;

use super::{Findings, Options, QUIET_HOST, STABLE};
use crate::Root;
use crate::describe::meminfo_bytes;

/// Less of the memory available than this share is low.
const LOW_MEMORY: f64 = 0.1;
/// Less room on a file system than this, or than this share of it, is low.
const LOW_DISK_BYTES: f64 = 1e9;
const LOW_DISK: f64 = 0.05;

pub(super) fn check(root: &Root, options: &Options, findings: &mut Findings) {
    match root.text("/proc/meminfo") {
        Ok(info) => {
            memory(&info, findings);
            swap(&info, findings);
        }
        Err(e) => findings.cannot(QUIET_HOST, "memory and swap", &e.to_string()),
    }
    if let Some(dir) = &options.work_dir {
        match rustix::fs::statvfs(dir) {
            Ok(fs) => {
                let unit = fs.f_frsize as f64;
                disk(
                    &dir.display().to_string(),
                    fs.f_bavail as f64 * unit,
                    fs.f_blocks as f64 * unit,
                    findings,
                );
            }
            Err(e) => findings.cannot(
                STABLE,
                &format!("the room on the file system of `{}`", dir.display()),
                &std::io::Error::from(e).to_string(),
            ),
        }
    }
}

fn memory(info: &str, findings: &mut Findings) {
    let (Some(total), Some(available)) =
        (meminfo_bytes(info, "MemTotal"), meminfo_bytes(info, "MemAvailable"))
    else {
        return findings.cannot(
            QUIET_HOST,
            "memory",
            "`/proc/meminfo` has no MemTotal or no MemAvailable",
        );
    };
    let share = available as f64 / total.max(1) as f64;
    if share < LOW_MEMORY {
        findings.warn(
            QUIET_HOST,
            format!(
                "{} of memory are available, {:.1} % of it: pages will be taken away and read again",
                format_value(available as f64, "B"),
                share * 100.0
            ),
            "end what holds memory, or measure on a larger machine",
        );
    }
}

fn swap(info: &str, findings: &mut Findings) {
    let (Some(total), Some(free)) =
        (meminfo_bytes(info, "SwapTotal"), meminfo_bytes(info, "SwapFree"))
    else {
        return findings.cannot(
            QUIET_HOST,
            "swap",
            "`/proc/meminfo` has no SwapTotal or no SwapFree",
        );
    };
    let used = total.saturating_sub(free);
    if used > 0 {
        findings.warn(
            QUIET_HOST,
            format!(
                "{} of swap are in use: some memory will have to be read from disk",
                format_value(used as f64, "B")
            ),
            "swapoff -a brings it back, if memory has room for it",
        );
    }
}

fn disk(dir: &str, free: f64, total: f64, findings: &mut Findings) {
    if free < LOW_DISK_BYTES || free < total * LOW_DISK {
        findings.warn(
            STABLE,
            format!(
                "the file system of `{dir}` has room for {} more: a nearly full file system is slower, \
                 and a run may fill it",
                format_value(free, "B")
            ),
            "make room, or choose another folder for the work",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_room_is_low_by_size_or_by_share() {
        let found = |free: f64, total: f64| {
            let mut findings = Findings(Vec::new());
            disk("/x", free, total, &mut findings);
            findings.0.len()
        };
        assert_eq!(found(5e8, 1e9), 1);
        assert_eq!(found(2e9, 1e12), 1);
        assert_eq!(found(2e11, 1e12), 0);
    }
}
