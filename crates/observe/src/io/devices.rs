//! Block devices of this machine: numbers, names, sizes, whether they have requests of their own,
//! and the paths under `/dev` that lead to them.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use assay_traces::block_io::NameTable;
use serde::Serialize;

use crate::NotAvailable;
use crate::device_stack::{made_of, text};

/// A block device or partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BlockDevice {
    /// Name in the kernel (`sda`, `nvme0n1p2`, `dm-0`).
    pub name: String,
    pub major: u32,
    pub minor: u32,
    /// Size in blocks of 512 bytes; `null` if unknown.
    pub blocks: Option<u64>,
    /// Disk that a partition belongs to.
    pub disk: Option<String>,
    /// First block of a partition on its disk.
    pub first_block: Option<u64>,
    /// True if only whole bios are seen (zram, device mapper, MD): the driver uses no requests.
    pub bio_based: bool,
    /// True if the kernel itself stamps the time of issue.
    pub issue_stamped: bool,
    /// True if the kernel counts the device's I/O (`queue/iostats`); otherwise starts are not
    /// reported.
    pub counted: bool,
    /// Paths under `/dev` that are or lead to the device.
    pub paths: Vec<PathBuf>,
    /// Devices directly below it, in a stack of devices.
    pub below: Vec<String>,
    /// Components in words: `raid1 of sda+sdb`.
    pub made_of: Option<String>,
    /// Name given by a mapper.
    pub mapped: Option<String>,
    /// Mount points of the device.
    pub mounted: Vec<PathBuf>,
}

impl BlockDevice {
    /// Returns the device number in the kernel's encoding: 12 bits major, 20 bits minor.
    pub(super) fn number(&self) -> u32 {
        self.major << 20 | self.minor
    }

    /// Returns true if some writes wait for a cache flush; also if that is unknown.
    #[cfg(feature = "ebpf")]
    pub(super) fn empties_cache(&self, root: &Path) -> bool {
        let queue = root.join("sys/class/block").join(self.name.replace('/', "!"));
        let cache = std::fs::read_to_string(queue.join("queue/write_cache"));
        cache.map_or(true, |cache| cache.trim() != "write through")
    }
}

/// All block devices of the system, by number.
#[derive(Debug, Clone, Default)]
pub struct BlockDevices {
    by_number: BTreeMap<u32, BlockDevice>,
}

/// Encodes major and minor numbers, as found in `st_rdev` or `/proc`, in the kernel's internal
/// form.
pub(super) fn packed(major: u32, minor: u32) -> u32 {
    major << 20 | minor & 0xf_ffff
}

impl BlockDevices {
    /// Reads `/sys/class/block`, `/dev` and the mounts under a root (`/`, or a fake one).
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut all = BlockDevices::default();
        let class = root.join("sys/class/block");
        for entry in std::fs::read_dir(&class)?.flatten() {
            if let Some(device) = one(&entry.path(), &entry.file_name().to_string_lossy()) {
                all.by_number.insert(device.number(), device);
            }
        }
        all.find_paths(&root.join("dev"));
        for (number, mount) in super::mounts::Mounts::read(root).all() {
            if let Some(device) = all.by_number.get_mut(number) {
                device.mounted.push(mount.point.clone());
            }
        }
        Ok(all)
    }

    fn find_paths(&mut self, dev: &Path) {
        let folders = [
            "",
            "mapper",
            "md",
            "disk/by-id",
            "disk/by-uuid",
            "disk/by-label",
            "disk/by-path",
            "disk/by-partlabel",
            "disk/by-partuuid",
        ];
        for folder in folders {
            let Ok(entries) = std::fs::read_dir(dev.join(folder)) else { continue };
            let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
            paths.sort();
            for path in paths {
                let Ok(meta) = std::fs::metadata(&path) else { continue };
                if meta.file_type().is_block_device() {
                    let number = packed(major(meta.rdev()), minor(meta.rdev()));
                    if let Some(device) = self.by_number.get_mut(&number) {
                        device.paths.push(path);
                    }
                }
            }
        }
    }

    /// Returns the device with this number.
    pub fn number(&self, number: u32) -> Option<&BlockDevice> {
        self.by_number.get(&number)
    }

    /// Returns the id of a device's name; a device added after the start has only its number as a
    /// name.
    pub(super) fn name_id(&self, number: u32, names: &NameTable) -> u32 {
        let name = self.number(number).map(|d| d.name.clone());
        let name = name.unwrap_or_else(|| format!("{}:{}", number >> 20, number & 0xf_ffff));
        names.id(name.as_bytes())
    }

    /// Returns the mapper's name of the device that the kernel calls `name`, or else `name`.
    pub fn mapped<'a>(&'a self, name: &'a str) -> &'a str {
        self.named(name).and_then(|d| d.mapped.as_deref()).unwrap_or(name)
    }

    /// Returns the first mount point of the device or of one of its partitions, or else
    /// [`BlockDevices::mapped`].
    pub fn mount<'a>(&'a self, name: &'a str) -> &'a str {
        let parts = self.all().filter(|d| d.disk.as_deref() == Some(name));
        let mut mounts = self.named(name).into_iter().chain(parts).flat_map(|d| &d.mounted);
        mounts.next().and_then(|m| m.to_str()).unwrap_or_else(|| self.mapped(name))
    }

    fn named(&self, name: &str) -> Option<&BlockDevice> {
        self.all().find(|d| d.name == name)
    }

    /// Finds a device like [`BlockDevices::find`]; returns an error if it does not exist.
    pub(super) fn wanted(&self, name: &str) -> Result<&BlockDevice, NotAvailable> {
        self.find(name).ok_or_else(|| {
            NotAvailable::because(format!(
                "there is no block device `{name}`; `assay io --devices` lists the devices"
            ))
        })
    }

    /// Returns all devices, ordered by number.
    pub fn all(&self) -> impl Iterator<Item = &BlockDevice> {
        self.by_number.values()
    }

    /// Finds a device by its name, number, a path that leads to it, or a file or folder on it.
    pub fn find(&self, what: &str) -> Option<&BlockDevice> {
        if let Some(device) =
            self.all().find(|d| d.name == what || d.mapped.as_deref() == Some(what))
        {
            return Some(device);
        }
        if let Some((Ok(major), Ok(minor))) =
            what.split_once(':').map(|(a, b)| (a.parse::<u32>(), b.parse::<u32>()))
        {
            return self.number(packed(major, minor));
        }
        let meta = std::fs::metadata(what).ok()?;
        let number = if meta.file_type().is_block_device() { meta.rdev() } else { meta.dev() };
        self.number(packed(major(number), minor(number)))
    }
}

fn major(rdev: u64) -> u32 {
    rustix::fs::major(rdev)
}

fn minor(rdev: u64) -> u32 {
    rustix::fs::minor(rdev)
}

fn one(folder: &Path, name: &str) -> Option<BlockDevice> {
    let text = |file: &str| text(folder, file);
    let (major, minor) = text("dev")?.split_once(':').map(|(a, b)| (a.parse(), b.parse()))?;
    let partition = folder.join("partition").exists();
    let disk = partition.then(|| {
        let real = std::fs::canonicalize(folder).ok()?;
        Some(real.parent()?.file_name()?.to_string_lossy().replace('!', "/"))
    });
    let queue = |file: &str| {
        text(&if partition { format!("../queue/{file}") } else { format!("queue/{file}") })
    };
    let mut below: Vec<String> = std::fs::read_dir(folder.join("slaves"))
        .map(|all| all.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect())
        .unwrap_or_default();
    below.sort();
    Some(BlockDevice {
        name: name.replace('!', "/"),
        major: major.ok()?,
        minor: minor.ok()?,
        blocks: text("size").and_then(|t| t.parse().ok()),
        disk: disk.flatten(),
        first_block: text("start").and_then(|t| t.parse().ok()),
        bio_based: !partition && !folder.join("mq").exists(),
        // The kernel stamps the issue while something needs it, such as write-back throttling.
        issue_stamped: queue("wbt_lat_usec").is_some_and(|t| t != "0"),
        counted: queue("iostats").is_none_or(|t| t != "0"),
        paths: Vec::new(),
        below,
        made_of: made_of(folder),
        mapped: text("dm/name"),
        mounted: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitors::fake::Fake;

    #[test]
    fn devices_of_a_tree() {
        let fake = Fake::new(&[
            ("sys/class/block/sda/dev", "8:0\n"),
            ("sys/class/block/sda/size", "1000\n"),
            ("sys/class/block/sda/mq/0/nr_tags", "64\n"),
            ("sys/class/block/sda/queue/wbt_lat_usec", "2000\n"),
            ("sys/class/block/zram0/dev", "253:0\n"),
            ("sys/class/block/zram0/queue/iostats", "1\n"),
            ("sys/class/block/dm-0/dev", "252:0\n"),
            ("sys/class/block/dm-0/dm/name", "fast\n"),
            ("sys/class/block/dm-0/slaves/sda/x", ""),
            ("sys/class/block/broken/dev", "what\n"),
            ("proc/self/mountinfo", "36 35 8:0 / /mnt rw - ext4 /dev/sda rw\n"),
        ]);
        let all = BlockDevices::read(fake.root()).unwrap();
        assert_eq!(all.all().count(), 3);
        let fast = all.find("fast").unwrap();
        assert_eq!((fast.name.as_str(), fast.made_of.as_deref()), ("dm-0", Some("fast of sda")));
        let sda = all.find("sda").unwrap();
        assert!(!sda.bio_based && sda.issue_stamped && sda.counted);
        assert_eq!((sda.number(), sda.blocks), (8 << 20, Some(1000)));
        assert_eq!(sda.mounted, [PathBuf::from("/mnt")]);
        assert!(all.find("253:0").unwrap().bio_based);
        assert_eq!(all.find("nothing"), None);
        assert_eq!((all.mapped("dm-0"), all.mapped("gone")), ("fast", "gone"));
        assert_eq!((all.mount("sda"), all.mount("dm-0")), ("/mnt", "fast"));
    }
}
