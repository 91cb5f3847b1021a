//! Block devices and their names, mapped both ways: the kernel's name (`dm-0`), its number
//! (`253:0`), the name that LVM or another mapper gave it (`vg-data`), the links under `/dev/disk`,
//! and the mount points of its file systems.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use assay_sut::{Root, mounts};

use crate::made_of::{made_of, text};

/// A block device or partition.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Device {
    /// Name in the kernel and in `/proc/diskstats`.
    pub name: String,
    /// Device number, `major:minor`; empty if sysfs does not have it.
    pub number: String,
    /// Whole device that the partition belongs to; `None` for a whole device.
    pub part_of: Option<String>,
    /// Name given by a mapper (LVM, dm-crypt, multipath).
    pub mapped: Option<String>,
    /// Components, if the kernel builds the device from others: `raid1 of sda+sdb`.
    pub made_of: Option<String>,
    /// Links to it under `/dev/disk`, `/dev/mapper` and `/dev/md`, sorted.
    pub links: Vec<PathBuf>,
    /// Mount points, in the order of the mounts.
    pub mounts: Vec<PathBuf>,
}

/// All block devices of a system.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Devices(Vec<Device>);

/// Subfolders of `/dev/disk` that are searched for links.
const LINKS: [&str; 6] = ["by-id", "by-label", "by-partlabel", "by-path", "by-uuid", "by-partuuid"];

impl Devices {
    /// Reads the devices from `sys`, `proc` and `dev` below `root`, skipping missing files.
    pub fn read(root: &Path) -> Self {
        let mut all = Vec::new();
        for whole in entries(&root.join("sys/block")) {
            let folder = root.join("sys/block").join(&whole);
            for part in entries(&folder) {
                if folder.join(&part).join("partition").exists() {
                    all.push(device(&folder.join(&part), &part, Some(&whole)));
                }
            }
            all.push(device(&folder, &whole, None));
        }
        let mut devices = Devices(all);
        devices.add_links(root);
        devices.add_mounts(root);
        devices.0.sort_by(|a, b| a.name.cmp(&b.name));
        devices
    }

    /// Returns all devices, sorted by name.
    pub fn all(&self) -> &[Device] {
        &self.0
    }

    /// Finds a device by its kernel name, number, mapper name, link, path in `/dev`, or mount
    /// point.
    pub fn find(&self, wanted: &str) -> Option<&Device> {
        let path = Path::new(wanted);
        let in_dev = wanted.strip_prefix("/dev/").unwrap_or(wanted);
        self.0.iter().find(|d| {
            d.name == in_dev
                || d.number == wanted
                || d.mapped.as_deref() == Some(in_dev)
                || d.links.iter().any(|l| l == path)
                || d.mounts.iter().any(|m| m == path)
        })
    }

    /// Returns the mapper's name of the device with this kernel name, or the kernel name itself.
    pub fn mapped<'a>(&'a self, name: &'a str) -> &'a str {
        self.named(name).and_then(|d| d.mapped.as_deref()).unwrap_or(name)
    }

    /// Returns the first mount point of the device with this kernel name or of its partitions;
    /// without one, the same as [`Devices::mapped`].
    pub fn mount<'a>(&'a self, name: &'a str) -> &'a str {
        let parts = self.0.iter().filter(|d| d.part_of.as_deref() == Some(name));
        let mut mounts = self.named(name).into_iter().chain(parts).flat_map(|d| &d.mounts);
        mounts.next().and_then(|m| m.to_str()).unwrap_or_else(|| self.mapped(name))
    }

    fn named(&self, name: &str) -> Option<&Device> {
        self.0.iter().find(|d| d.name == name)
    }

    fn add_links(&mut self, root: &Path) {
        let by = LINKS.map(|folder| root.join("dev/disk").join(folder));
        for folder in by.into_iter().chain(["dev/mapper", "dev/md"].map(|made| root.join(made))) {
            for entry in entries(&folder) {
                let Ok(target) = fs::read_link(folder.join(&entry)) else { continue };
                let name = target.file_name().map(|n| n.to_string_lossy().into_owned());
                let shown = folder.strip_prefix(root).unwrap_or(&folder).join(&entry);
                if let Some(device) = self.0.iter_mut().find(|d| Some(&d.name) == name.as_ref()) {
                    device.links.push(Path::new("/").join(shown));
                }
            }
        }
        self.0.iter_mut().for_each(|d| d.links.sort());
    }

    fn add_mounts(&mut self, root: &Path) {
        let mut seen: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for mount in mounts::all(&Root::at(root)) {
            seen.entry(mount.numbers).or_default().push(mount.point);
        }
        for device in &mut self.0 {
            if let Some(mounts) = seen.get(device.number.as_str()) {
                device.mounts.clone_from(mounts);
            }
        }
    }
}

fn device(folder: &Path, entry: &str, part_of: Option<&str>) -> Device {
    // sysfs writes the `/` in a name as `!`.
    Device {
        name: entry.replace('!', "/"),
        number: text(folder, "dev").unwrap_or_default(),
        part_of: part_of.map(|whole| whole.replace('!', "/")),
        mapped: text(folder, "dm/name"),
        made_of: made_of(folder),
        ..Device::default()
    }
}

/// Returns the sorted names in a folder; empty if it cannot be read.
fn entries(folder: &Path) -> Vec<String> {
    let Ok(read) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        read.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system() -> (tempfile::TempDir, Devices) {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("sys/block/vda/dev", "254:0\n");
        put("sys/block/vda/vda1/dev", "254:1\n");
        put("sys/block/vda/vda1/partition", "1\n");
        put("sys/block/vda/queue/rotational", "0\n");
        put("sys/block/dm-0/dev", "253:0\n");
        put("sys/block/dm-0/dm/name", "vg0-data\n");
        put("sys/block/dm-0/slaves/vda1/x", "");
        put("sys/block/cciss!c0d0/dev", "104:0\n");
        put(
            "proc/self/mountinfo",
            "1 0 254:1 / / rw - ext4 /dev/vda1 rw\n2 1 253:0 / /srv/the\\040data rw - xfs x rw\n",
        );
        let by_id = root.path().join("dev/disk/by-id");
        fs::create_dir_all(&by_id).unwrap();
        std::os::unix::fs::symlink("../../vda", by_id.join("virtio-root")).unwrap();
        let devices = Devices::read(root.path());
        (root, devices)
    }

    #[test]
    fn every_name_leads_to_the_device() {
        let (_root, devices) = system();
        for (wanted, name) in [
            ("vda", "vda"),
            ("/dev/vda1", "vda1"),
            ("253:0", "dm-0"),
            ("vg0-data", "dm-0"),
            ("/dev/disk/by-id/virtio-root", "vda"),
            ("/", "vda1"),
            ("/srv/the data", "dm-0"),
            ("cciss/c0d0", "cciss/c0d0"),
        ] {
            assert_eq!(devices.find(wanted).map(|d| d.name.as_str()), Some(name), "{wanted}");
        }
        assert_eq!(devices.find("sdz"), None);
        assert_eq!(devices.all().len(), 4, "queue is no partition");
    }

    #[test]
    fn the_device_leads_to_its_names() {
        let (_root, devices) = system();
        assert_eq!((devices.mapped("dm-0"), devices.mapped("vda")), ("vg0-data", "vda"));
        assert_eq!((devices.mount("dm-0"), devices.mount("vda")), ("/srv/the data", "/"));
        assert_eq!(devices.mount("cciss/c0d0"), "cciss/c0d0");
        assert_eq!(devices.mapped("gone"), "gone");
        let made_of = |name: &str| devices.find(name).unwrap().made_of.clone();
        assert_eq!((made_of("dm-0").as_deref(), made_of("vda")), (Some("vg0-data of vda1"), None));
    }

    #[test]
    fn nothing_to_read_is_no_device() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(Devices::read(root.path()), Devices::default());
    }
}
