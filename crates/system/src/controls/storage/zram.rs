//! Devices of compressed memory (zram), added for a trial and removed after it.
//!
//! The kernel chooses a device's number only when it adds the device. Therefore the existing
//! numbers are written down first, and the new one as soon as it is known.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::{Root, Unavailable};

use super::device::Device;
use super::level::StorageLevel;

const ADD: &str = "/sys/class/zram-control/hot_add";
const REMOVE: &str = "/sys/class/zram-control/hot_remove";
/// File in the storage's folder with the number of its device.
const NUMBER: &str = "zram";
/// File in the storage's folder with the numbers of the devices that existed before.
const BEFORE: &str = "zram-before";
/// Maximum time that another process (udev) may keep a device open before it can be removed.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Checks that devices can be added on this machine.
pub(super) fn check(root: &Root) -> Result<(), Unavailable> {
    if root.exists(ADD) {
        return Ok(());
    }
    Err(format!(
        "the kernel has no zram whose devices can be added (`{ADD}` is missing); load its module \
         with `modprobe zram`"
    )
    .into())
}

/// Returns the number of the folder's device.
pub(super) fn number(folder: &Path) -> Option<u32> {
    fs::read_to_string(folder.join(NUMBER)).ok()?.trim().parse().ok()
}

fn numbers(root: &Root) -> Vec<String> {
    let names = root.names("/sys/class/block").into_iter();
    names.filter_map(|n| n.strip_prefix("zram").map(str::to_owned)).collect()
}

/// Adds a device of the level's size.
///
/// # Errors
/// The failed step. [`take_away`] removes everything created before the error.
pub(super) fn make(
    root: &Root,
    folder: &Path,
    level: &StorageLevel,
) -> Result<Device, Unavailable> {
    let keep = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|e| format!("cannot write `{}`: {e}", path.display()))
    };
    keep(BEFORE, &numbers(root).join(" "))?;
    let number = root.text(ADD).map_err(|e| format!("cannot add a zram device: {e}"))?;
    keep(NUMBER, &number)?;
    let own = format!("/sys/class/block/zram{number}");
    let set = |file: &str, value: &str| {
        fs::write(root.path(&format!("{own}/{file}")), value).map_err(|e| {
            let known = root.text(&format!("{own}/{file}")).unwrap_or_default();
            format!("zram does not take `{value}` as {file} ({e}); this kernel has: {known}")
        })
    };
    if let Some(compress) = &level.compress {
        set("comp_algorithm", compress)?;
    }
    set("disksize", &level.size.to_string())?;
    Device::find(root, &PathBuf::from(format!("/dev/zram{number}")))
}

/// Removes the device of a folder; its file system must be unmounted already.
///
/// # Errors
/// The device is in use.
pub(super) fn take_away(root: &Root, folder: &Path) -> Result<(), Unavailable> {
    let gone: Vec<String> = match number(folder) {
        Some(number) => vec![number.to_string()],
        None => unnamed(root, folder),
    };
    for number in gone {
        let began = Instant::now();
        while root.exists(&format!("/sys/class/block/zram{number}")) {
            let removed = fs::write(root.path(REMOVE), &number);
            match removed {
                Ok(()) => break,
                Err(e) if began.elapsed() > TIMEOUT => {
                    return Err(format!("cannot remove `/dev/zram{number}`: {e}").into());
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }
    for name in [NUMBER, BEFORE] {
        let _ = fs::remove_file(folder.join(name));
    }
    Ok(())
}

/// Returns devices that are not in the folder's list and have no size yet. They exist if assay was
/// killed between adding a device and writing down its number.
fn unnamed(root: &Root, folder: &Path) -> Vec<String> {
    let Ok(before) = fs::read_to_string(folder.join(BEFORE)) else { return Vec::new() };
    let known: Vec<&str> = before.split_whitespace().collect();
    let unused = |n: &String| {
        root.text(&format!("/sys/class/block/zram{n}/disksize")).is_ok_and(|size| size == "0")
    };
    numbers(root).into_iter().filter(|n| !known.contains(&n.as_str()) && unused(n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    #[test]
    fn a_device_is_sized_and_only_ones_own_is_removed() {
        let machine = FakeMachine::new();
        let root = machine.root();
        assert!(check(&root).unwrap_err().reason.contains("modprobe zram"));
        machine.put(ADD, "1\n");
        machine.put(REMOVE, "");
        for n in ["0", "1"] {
            machine.put(&format!("/sys/class/block/zram{n}/disksize"), "0\n");
            machine.put(&format!("/sys/class/block/zram{n}/comp_algorithm"), "[lzo-rle] lz4\n");
            machine.put(&format!("/sys/class/block/zram{n}/dev"), "252:1\n");
            machine.put(&format!("/dev/zram{n}"), "");
        }
        check(&root).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let level = super::super::level::parse("zram:ext4,size=64MiB,compress=lz4").unwrap();
        // Device 0 existed before; device 1 is the one that the kernel has just added.
        fs::write(folder.path().join(BEFORE), "0").unwrap();
        assert_eq!(unnamed(&root, folder.path()), ["1"], "killed before its number was written");
        let device = make(&root, folder.path(), &level).unwrap();
        assert_eq!((device.name.as_str(), number(folder.path())), ("zram1", Some(1)));
        assert_eq!(machine.read("/sys/class/block/zram1/disksize"), "67108864");
        assert_eq!(machine.read("/sys/class/block/zram1/comp_algorithm"), "lz4");
        assert_eq!(machine.read("/sys/class/block/zram0/disksize"), "0");
        take_away(&root, folder.path()).unwrap();
        assert_eq!(machine.read(REMOVE), "1");
        assert_eq!(number(folder.path()), None);
    }
}
