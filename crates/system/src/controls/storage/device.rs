//! Block devices: their numbers and their users.

use std::path::Path;

use crate::read::mounts;
use crate::{Root, Unavailable};

/// A device under the kernel's name, such as `sdb`, with its numbers, such as `8:16`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Device {
    pub name: String,
    pub numbers: String,
}

impl Device {
    /// Finds the device of a path below `/dev`, following links.
    ///
    /// # Errors
    /// The path does not exist or is not a block device.
    pub fn find(root: &Root, path: &Path) -> Result<Self, Unavailable> {
        let shown = path.display();
        let real = root.path(&path.to_string_lossy());
        let real = real.canonicalize().map_err(|e| format!("cannot find `{shown}`: {e}"))?;
        let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let numbers = root
            .text(&format!("/sys/class/block/{name}/dev"))
            .map_err(|_| format!("`{shown}` is not a block device"))?;
        Ok(Device { name, numbers })
    }

    /// Returns the folder of the device's queue settings; for a partition, that of the whole disk.
    pub fn queue(&self, root: &Root) -> String {
        let own = format!("/sys/class/block/{}", self.name);
        if root.exists(&format!("{own}/queue")) {
            return format!("{own}/queue");
        }
        format!("{own}/../queue")
    }

    /// Returns a sentence that names the user of the device or of a part of it; `None` if it is
    /// unused.
    pub fn user(&self, root: &Root) -> Option<String> {
        let mounts = mounts::all(root);
        let swaps = root.text("/proc/swaps").unwrap_or_default();
        let mut parts = vec![self.clone()];
        let own = format!("/sys/class/block/{}", self.name);
        for name in root.names(&own).into_iter().filter(|n| n.starts_with(&self.name)) {
            if let Ok(numbers) = root.text(&format!("{own}/{name}/dev")) {
                parts.push(Device { name, numbers });
            }
        }
        for part in &parts {
            let dev = format!("/dev/{}", part.name);
            let mounted = mounts.iter().find(|m| {
                m.numbers == part.numbers
                    || m.source == dev
                    || root
                        .path(&m.source)
                        .canonicalize()
                        .is_ok_and(|p| m.source.starts_with("/dev/") && p.ends_with(&dev[1..]))
            });
            if let Some(mount) = mounted {
                return Some(format!("`{dev}` is mounted at `{}`", mount.point.display()));
            }
            if swaps.lines().any(|l| l.split_whitespace().next() == Some(&dev)) {
                return Some(format!("`{dev}` is used for swap"));
            }
            if let Some(holder) =
                root.names(&format!("/sys/class/block/{}/holders", part.name)).first()
            {
                return Some(format!("`{dev}` is part of `{holder}`"));
            }
        }
        if root.is_system() && exclusive(&root.path(&format!("/dev/{}", self.name))).is_err() {
            return Some(format!("`/dev/{}` is in use by the kernel or a program", self.name));
        }
        None
    }
}

/// Opens a block device exclusively, as mounting would.
fn exclusive(path: &Path) -> std::io::Result<()> {
    use rustix::fs::{Mode, OFlags, open};
    match open(path, OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC, Mode::empty()) {
        Err(rustix::io::Errno::BUSY) => Err(rustix::io::Errno::BUSY.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    fn machine() -> FakeMachine {
        let m = FakeMachine::new();
        for (name, numbers) in [("sdb", "8:16"), ("sdc", "8:32"), ("sdd", "8:48"), ("sde", "8:64")]
        {
            m.put(&format!("/dev/{name}"), "");
            m.put(&format!("/sys/class/block/{name}/dev"), numbers);
        }
        m.put("/sys/class/block/sdc/sdc1/dev", "8:33");
        m.put("/sys/class/block/sdd/holders/dm-0/x", "");
        m.put("/dev/null", "");
        m.put("/proc/self/mountinfo", "36 35 8:33 / /srv rw - ext4 /dev/sdc1 rw\n");
        m.put("/proc/swaps", "Filename Type Size Used Priority\n/dev/sde partition 1 0 -2\n");
        m
    }

    #[test]
    fn a_device_that_somebody_uses_is_seen() {
        let machine = machine();
        let root = machine.root();
        let user = |name: &str| {
            Device::find(&root, Path::new(&format!("/dev/{name}"))).unwrap().user(&root)
        };
        assert_eq!(user("sdb"), None);
        assert!(user("sdc").unwrap().contains("mounted at `/srv`"));
        assert!(user("sdd").unwrap().contains("dm-0"));
        assert!(user("sde").unwrap().contains("swap"));
        for (name, why) in [("null", "not a block device"), ("sdx", "cannot find")] {
            let path = format!("/dev/{name}");
            assert!(Device::find(&root, Path::new(&path)).unwrap_err().reason.contains(why));
        }
    }
}
