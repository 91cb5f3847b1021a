//! The block devices below a folder, and their transferred bytes.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use assay_system::{Root, mounts};
use rustix::fs::{major, minor};

/// Names of the block devices below a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Devices(Vec<String>);

/// Bytes transferred since boot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bytes {
    pub read: u64,
    pub written: u64,
}

/// Unit of the sectors in `/proc/diskstats`, in bytes.
const SECTOR: u64 = 512;

impl Devices {
    /// Returns the devices below `dir`, or `None` if there are none (memory) or they cannot be
    /// determined.
    pub fn below(dir: &Path) -> Option<Self> {
        let device = fs::metadata(dir).ok()?.dev();
        let numbers = format!("{}:{}", major(device), minor(device));
        if major(device) != 0 {
            return Some(Devices(vec![name(&numbers)?]));
        }
        // A file system over several devices has an anonymous device number.
        let mounts = mounts::all(&Root::system());
        let mount = mounts::holding(&mounts, &dir.canonicalize().ok()?)?;
        let short = mount.source.strip_prefix("/dev/")?;
        let all = fs::read_dir("/sys/fs/btrfs").ok()?.flatten();
        let members = all.filter_map(|entry| {
            let found = fs::read_dir(entry.path().join("devices")).ok()?.flatten();
            Some(found.map(|d| d.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>())
        });
        let of_it = members.into_iter().find(|names| names.iter().any(|n| n == short));
        Some(Devices(of_it.unwrap_or_else(|| vec![short.to_owned()])))
    }

    /// Returns the names of the devices, separated by commas.
    pub fn names(&self) -> String {
        self.0.join(", ")
    }

    /// Returns the bytes transferred so far, or `None` if the kernel does not report them.
    pub fn bytes(&self) -> Option<Bytes> {
        let text = fs::read_to_string("/proc/diskstats").ok()?;
        let all: Option<Vec<Bytes>> = self.0.iter().map(|name| bytes_of(&text, name)).collect();
        let sum =
            |a: Bytes, b: Bytes| Bytes { read: a.read + b.read, written: a.written + b.written };
        Some(all?.into_iter().fold(Bytes::default(), sum))
    }
}

/// Returns the name of a device with the numbers `major:minor`.
fn name(numbers: &str) -> Option<String> {
    let link = fs::read_link(format!("/sys/dev/block/{numbers}")).ok()?;
    Some(link.file_name()?.to_string_lossy().into_owned())
}

/// Parses a line of `/proc/diskstats`: major, minor, name, reads, merged, sectors read, ms, writes,
/// merged, sectors written.
fn bytes_of(text: &str, name: &str) -> Option<Bytes> {
    let line = text.lines().find(|l| l.split_whitespace().nth(2) == Some(name))?;
    let number = |n: usize| line.split_whitespace().nth(n)?.parse::<u64>().ok();
    Some(Bytes { read: number(5)? * SECTOR, written: number(9)? * SECTOR })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read() {
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
