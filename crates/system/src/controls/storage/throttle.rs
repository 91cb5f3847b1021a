//! Limits of bytes and operations per second on a block device, set in the top group of version 1,
//! where they apply to all processes and to the kernel's writeback.

use crate::Root;
use crate::control::cgroup;
use crate::error::ControlError;

use super::disk::Disk;
use super::level::Limits;

/// The four files of a group, in the order of their values in a level.
const FILES: [&str; 4] =
    ["read_bps_device", "write_bps_device", "read_iops_device", "write_iops_device"];
/// Prefix of a device's numbers in the journal.
const KEY: &str = "limits:";

/// Returns the limits for a disk: bytes/s and operations/s, each for reads and writes; 0 means no
/// limit.
pub(super) fn values(disk: &Disk, limits: Limits) -> [u64; 4] {
    let bytes = limits != Limits::Operations;
    let operations = limits != Limits::Bytes;
    let when = |on: bool, value: u64| if on { value } else { 0 };
    [
        when(bytes, disk.read_bytes_s),
        when(bytes, disk.write_bytes_s),
        when(operations, disk.read_ops_s),
        when(operations, disk.write_ops_s),
    ]
}

/// Formats the line of version 2's `io.max` for a device.
pub(super) fn io_max(numbers: &str, values: [u64; 4]) -> String {
    let words = ["rbps", "wbps", "riops", "wiops"];
    let word = |(name, value): (&str, u64)| match value {
        0 => format!("{name}=max"),
        value => format!("{name}={value}"),
    };
    let limits: Vec<String> = words.into_iter().zip(values).map(word).collect();
    format!("{numbers} {}", limits.join(" "))
}

/// Returns the journal's key for a device; [`numbers`] is the inverse.
pub(super) fn key(numbers: &str) -> String {
    format!("{KEY}{numbers}")
}

pub(super) fn numbers(key: &str) -> Option<&str> {
    key.strip_prefix(KEY)
}

fn file(name: &str) -> String {
    format!("/sys/fs/cgroup/blkio/blkio.throttle.{name}")
}

/// Reads the current limits of a device as a level: four numbers.
pub(super) fn current(root: &Root, numbers: &str) -> Result<String, ControlError> {
    let mut found = Vec::new();
    for name in FILES {
        let text = root.text(&file(name)).map_err(|e| ControlError::NotHere {
            path: "storage".to_owned(),
            reason: e.to_string(),
        })?;
        let value = text
            .lines()
            .find_map(|l| l.split_once(' ').filter(|(n, _)| *n == numbers).map(|(_, v)| v.trim()));
        found.push(value.unwrap_or("0").to_owned());
    }
    Ok(found.join(" "))
}

/// Sets the limits of a device and reads them back.
pub(super) fn set(root: &Root, numbers: &str, level: &str) -> Result<(), ControlError> {
    let values: Vec<u64> = level.split(' ').filter_map(|v| v.parse().ok()).collect();
    let path = || "storage".to_owned();
    if values.len() != FILES.len() {
        let reason = format!("`{level}` is not four limits");
        return Err(ControlError::Key { path: path(), reason });
    }
    for (name, value) in FILES.iter().zip(values) {
        cgroup::write(root, "storage", &file(name), &format!("{numbers} {value}"))?;
    }
    let got = current(root, numbers)?;
    if got == level {
        return Ok(());
    }
    Err(ControlError::NotTaken { path: path(), asked: level.to_owned(), got })
}

#[cfg(test)]
mod tests {
    use super::super::disk::find;
    use super::*;
    use crate::fake::FakeMachine;

    #[test]
    fn limits_are_set_and_lifted() {
        let machine = FakeMachine::new();
        for name in FILES {
            machine.put(&file(name), "");
        }
        let root = machine.root();
        assert_eq!(current(&root, "7:3").unwrap(), "0 0 0 0");
        let all = values(&find("sata-7200").unwrap(), Limits::Both);
        let level = all.map(|v| v.to_string()).join(" ");
        set(&root, "7:3", &level).unwrap();
        assert_eq!(machine.read(&file("read_iops_device")), "7:3 86");
        assert_eq!(current(&root, "7:3").unwrap(), level);
        assert_eq!(current(&root, "7:33").unwrap(), "0 0 0 0");
        set(&root, "7:3", "0 0 0 0").unwrap();
        assert!(set(&root, "7:3", "absent").is_err());
        assert_eq!(numbers(&key("7:3")), Some("7:3"));
    }

    #[test]
    fn one_line_for_version_2() {
        let disk = find("sata-ssd").unwrap();
        assert_eq!(
            io_max("7:3", values(&disk, Limits::Bytes)),
            "7:3 rbps=250000000 wbps=100000000 riops=max wiops=max"
        );
        assert!(io_max("7:3", values(&disk, Limits::Operations)).starts_with("7:3 rbps=max"));
    }
}
