//! The block devices below a folder, and the bytes that went to and came from them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{major, minor};

/// The devices below a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Devices(Vec<String>);

/// Bytes so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bytes {
    /// Read.
    pub read: u64,
    /// Written.
    pub written: u64,
}

/// What `/proc/diskstats` counts in.
const SECTOR: u64 = 512;

impl Devices {
    /// Those below `dir`; `None`: there are none (memory), or the kernel does not tell.
    pub fn below(dir: &Path) -> Option<Self> {
        let device = fs::metadata(dir).ok()?.dev();
        let numbers = format!("{}:{}", major(device), minor(device));
        if major(device) != 0 {
            return Some(Devices(vec![name(&numbers)?]));
        }
        // A file system over several devices has a number of its own.
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let point = dir.canonicalize().ok()?;
        let source = source(&mounts, &point)?;
        let short = source.strip_prefix("/dev/")?;
        let all = fs::read_dir("/sys/fs/btrfs").ok()?.flatten();
        let members = all.filter_map(|entry| {
            let found = fs::read_dir(entry.path().join("devices")).ok()?.flatten();
            Some(found.map(|d| d.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>())
        });
        let of_it = members.into_iter().find(|names| names.iter().any(|n| n == short));
        Some(Devices(of_it.unwrap_or_else(|| vec![short.to_owned()])))
    }

    /// Their names.
    pub fn names(&self) -> String {
        self.0.join(", ")
    }

    /// What they have done so far; `None`: the kernel does not tell.
    pub fn bytes(&self) -> Option<Bytes> {
        let text = fs::read_to_string("/proc/diskstats").ok()?;
        let all: Option<Vec<Bytes>> = self.0.iter().map(|name| bytes_of(&text, name)).collect();
        let sum =
            |a: Bytes, b: Bytes| Bytes { read: a.read + b.read, written: a.written + b.written };
        Some(all?.into_iter().fold(Bytes::default(), sum))
    }
}

/// The name of a device by its numbers.
fn name(numbers: &str) -> Option<String> {
    let link = fs::read_link(format!("/sys/dev/block/{numbers}")).ok()?;
    Some(link.file_name()?.to_string_lossy().into_owned())
}

/// What is mounted where `path` is: the longest mount point above it.
fn source(mounts: &str, path: &Path) -> Option<String> {
    let read = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let point = before.split(' ').nth(4)?.replace("\\040", " ");
        Some((point, after.split(' ').nth(1)?.to_owned()))
    };
    let above = mounts.lines().filter_map(read).filter(|(point, _)| path.starts_with(point));
    above.max_by_key(|(point, _)| point.len()).map(|(_, source)| source)
}

/// A line of `/proc/diskstats`: major, minor, name, reads, merged, sectors read, ms, writes, merged, sectors.
fn bytes_of(text: &str, name: &str) -> Option<Bytes> {
    let line = text.lines().find(|l| l.split_whitespace().nth(2) == Some(name))?;
    let number = |n: usize| line.split_whitespace().nth(n)?.parse::<u64>().ok();
    Some(Bytes { read: number(5)? * SECTOR, written: number(9)? * SECTOR })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_and_counts_are_read() {
        let mounts = "25 1 254:0 / / rw - ext4 /dev/vda rw\n99 25 0:52 / /tmp/a\\040b rw - btrfs /dev/loop3 rw\n";
        assert_eq!(source(mounts, Path::new("/tmp/a b/c")).unwrap(), "/dev/loop3");
        assert_eq!(source(mounts, Path::new("/tmp/x")).unwrap(), "/dev/vda");
        let stats = "   7       3 loop3 10 0 80 5 20 0 160 9 0 1 1 0 0 0 0 0 0\n";
        assert_eq!(bytes_of(stats, "loop3"), Some(Bytes { read: 40_960, written: 81_920 }));
        assert_eq!(bytes_of(stats, "loop30"), None);
    }

    #[test]
    fn memory_has_no_device() {
        if Path::new("/dev/shm").is_dir() {
            assert_eq!(Devices::below(Path::new("/dev/shm")), None);
        }
    }
}
