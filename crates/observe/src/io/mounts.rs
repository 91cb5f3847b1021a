//! Mount points of file systems, to convert a path within a file system to a path on this machine.

use std::path::Path;

use assay_system::Root;
use assay_system::mounts::{self, Mount};

use super::devices::packed;

/// All mounts of devices that this process sees, with the device number in the kernel's encoding.
#[derive(Debug, Clone, Default)]
pub(super) struct Mounts(Vec<(u32, Mount)>);

impl Mounts {
    /// Reads the mounts under a root.
    pub fn read(root: &Path) -> Self {
        let numbered = |mount: Mount| {
            let (major, minor) = mount.device()?;
            Some((packed(major, minor), mount))
        };
        Mounts(mounts::all(&Root::at(root)).into_iter().filter_map(numbered).collect())
    }

    /// Returns all mounts with their device numbers.
    pub fn all(&self) -> &[(u32, Mount)] {
        &self.0
    }
}

/// Lookups for the eBPF tracer, which identifies files by device and path within it.
#[cfg(feature = "ebpf")]
impl Mounts {
    fn of_device(&self, dev: u32) -> impl Iterator<Item = &Mount> {
        self.0.iter().filter(move |(of, _)| *of == dev).map(|(_, mount)| mount)
    }

    /// Returns the mount that shows the largest part of a device.
    pub fn largest_part(&self, dev: u32) -> Option<&Mount> {
        self.of_device(dev).min_by_key(|m| m.part.as_os_str().len())
    }

    /// Returns the path of a file that is at `within` (from the root of its file system).
    pub fn path(&self, dev: u32, within: &Path) -> Option<std::path::PathBuf> {
        let mount = self
            .of_device(dev)
            .filter(|m| within.starts_with(&m.part))
            .max_by_key(|m| m.part.components().count())?;
        let rest = within.strip_prefix(&mount.part).ok()?;
        let at = &mount.point;
        Some(if rest.as_os_str().is_empty() { at.clone() } else { at.join(rest) })
    }
}

#[cfg(all(test, feature = "ebpf"))]
mod tests {
    use super::*;

    #[test]
    fn paths_by_mounts() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc/self")).unwrap();
        let text = "36 35 8:1 / /mnt/my\\040disk rw,noatime shared:1 - ext4 /dev/sda1 rw\n\
                    37 35 8:1 /sub /srv rw - ext4 /dev/sda1 rw\nshort\n";
        std::fs::write(root.path().join("proc/self/mountinfo"), text).unwrap();
        let mounts = Mounts::read(root.path());
        let dev = packed(8, 1);
        let path = |within: &str| mounts.path(dev, Path::new(within)).unwrap();
        assert_eq!(path("/a/b"), Path::new("/mnt/my disk/a/b"));
        assert_eq!(path("/sub/x"), Path::new("/srv/x"));
        assert_eq!(mounts.path(1, Path::new("/x")), None);
        assert_eq!(mounts.largest_part(dev).unwrap().kind, "ext4");
    }
}
