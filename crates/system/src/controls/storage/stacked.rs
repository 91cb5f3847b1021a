//! Devices that are composed of others: MD arrays and device-mapper mappings. They lie on loop
//! devices on files of the folder, by which they are found again, whatever their own names are.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::{Root, Unavailable};

use super::device::Device;
use super::level::{Raid, Stack, StorageLevel};
use super::loops::loops_of;
use super::tools;

/// File in the storage's folder with the number of its array, which may exist before the array has
/// members.
const NUMBER: &str = "md";
/// Sectors in a chunk of a stripe: 64 KiB.
const CHUNK: u64 = 128;
const SECTOR: u64 = 512;
/// Maximum time that another process (udev) may keep a device open before it can be removed.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Checks that the kernel can create such a device.
pub(super) fn check(root: &Root, stack: Stack) -> Result<(), Unavailable> {
    for module in stack.modules() {
        let loaded = root.exists(&format!("/sys/module/{module}"));
        if !loaded && (!root.is_system() || !loadable(module)) {
            return Err(format!(
                "the kernel has no {} (there is no module `{module}`)",
                stack.describe()
            )
            .into());
        }
    }
    Ok(())
}

/// True if the kernel has the module: loaded, built in, or loadable.
fn loadable(module: &str) -> bool {
    let here = Path::new("/");
    tools::run(here, "modprobe", ["--dry-run", "--quiet", module]).is_ok()
}

/// Creates the device on top of `below`.
///
/// # Errors
/// The failed step. [`take_away`] removes everything created before the error.
pub(super) fn make(
    root: &Root,
    folder: &Path,
    stack: Stack,
    level: &StorageLevel,
    below: &[Device],
) -> Result<Device, Unavailable> {
    for module in stack.modules() {
        if !root.exists(&format!("/sys/module/{module}")) {
            tools::run(folder, "modprobe", ["--quiet", module])?;
        }
    }
    match stack {
        Stack::Md(raid) => array(root, folder, raid, below)?,
        Stack::Stripe => {
            let each = level.size / SECTOR / CHUNK * CHUNK;
            let count = below.len() as u64;
            let parts: Vec<String> = below.iter().map(|d| format!("/dev/{} 0", d.name)).collect();
            let (all, parts) = (each * count, parts.join(" "));
            mapping(folder, &format!("0 {all} striped {count} {CHUNK} {parts}"))?;
        }
        Stack::Delay(millis) => {
            let device = first(below)?;
            mapping(folder, &format!("0 {} delay {device} 0 {millis}", level.size / SECTOR))?;
        }
        Stack::Crypt => {
            let device = first(below)?;
            let plain =
                ["open", "--type", "plain", "--cipher", "aes-xts-plain64", "--key-size", "512"];
            // A random key that is not stored: the data is lost with the trial.
            let key = ["--key-file", "/dev/urandom", "--batch-mode"];
            let name = name(folder);
            let arguments = [&plain[..], &key[..], &[&device, &name]].concat();
            tools::run(folder, "cryptsetup", arguments)?;
        }
    }
    let made = find(root, folder).ok_or_else(|| format!("{} was not created", stack.describe()))?;
    Device::find(root, Path::new(&format!("/dev/{made}")))
}

fn first(below: &[Device]) -> Result<String, String> {
    below.first().map(|d| format!("/dev/{}", d.name)).ok_or_else(|| "there is no device".to_owned())
}

/// Returns the name of a folder's mapping: the folder's own name, which no mapping of a user has.
fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn mapping(folder: &Path, table: &str) -> Result<(), Unavailable> {
    tools::run(folder, "dmsetup", ["create", &name(folder), "--table", table]).map(|_| ())
}

fn array(root: &Root, folder: &Path, raid: Raid, below: &[Device]) -> Result<(), String> {
    let taken = root.names("/sys/class/block");
    let number = (0..512).find(|n| !taken.contains(&format!("md{n}")));
    let number = number.ok_or("all numbers of MD arrays are taken")?;
    let path = folder.join(NUMBER);
    fs::write(&path, number.to_string())
        .map_err(|e| format!("cannot write `{}`: {e}", path.display()))?;
    let words = [
        "--create".to_owned(),
        format!("/dev/md{number}"),
        "--run".to_owned(),
        "--quiet".to_owned(),
        format!("--level={}", raid.name().trim_start_matches("raid")),
        format!("--raid-devices={}", below.len()),
        "--metadata=1.2".to_owned(),
        format!("--name={number}"),
        // New files hold zeros, for which mirrors and parities are consistent, so no resync is
        // needed.
        "--assume-clean".to_owned(),
        "--bitmap=none".to_owned(),
    ];
    // A stripe has no redundancy that could be clean, and no bitmap.
    let words = words.into_iter().filter(|w| {
        raid != Raid::Stripe || !w.starts_with("--assume") && !w.starts_with("--bitmap")
    });
    let members = below.iter().map(|d| format!("/dev/{}", d.name));
    tools::run(folder, "mdadm", words.chain(members))?;
    Ok(())
}

/// Returns the name of the folder's device, if there is one.
pub(super) fn find(root: &Root, folder: &Path) -> Option<String> {
    let loops = loops_of(root, folder);
    let mut blocks = root.names("/sys/class/block").into_iter();
    blocks.find(|block| {
        let own = format!("/sys/class/block/{block}");
        let mapped = root.text(&format!("{own}/dm/name")).is_ok_and(|n| n == name(folder));
        let kind = block.starts_with("md") || block.starts_with("dm-");
        mapped || kind && root.names(&format!("{own}/slaves")).iter().any(|s| loops.contains(s))
    })
}

/// Removes the device of a folder; its file system must be unmounted already.
///
/// # Errors
/// The device is in use.
pub(super) fn take_away(root: &Root, folder: &Path) -> Result<(), Unavailable> {
    let began = Instant::now();
    let loops = loops_of(root, folder);
    // While the members have an MD superblock, another process (udev) may assemble the array again.
    while let Some(made) = find(root, folder).or_else(|| empty(root, folder)) {
        let mapped = root.text(&format!("/sys/class/block/{made}/dm/name"));
        let removed = match &mapped {
            Ok(name) => tools::run(folder, "dmsetup", ["remove", "--retry", name]),
            Err(_) => tools::run(folder, "mdadm", ["--stop", "--quiet", &format!("/dev/{made}")]),
        };
        if mapped.is_err() && removed.is_ok() {
            for member in &loops {
                let device = format!("/dev/{member}");
                let _ = tools::run(folder, "mdadm", ["--zero-superblock", "--quiet", &device]);
            }
        }
        if let Err(error) = removed
            && began.elapsed() > TIMEOUT
        {
            return Err(format!("cannot remove `/dev/{made}`: {error}").into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = fs::remove_file(folder.join(NUMBER));
    Ok(())
}

/// Returns the folder's array if it has no members, because assay was killed while it was created.
fn empty(root: &Root, folder: &Path) -> Option<String> {
    let number: u32 = fs::read_to_string(folder.join(NUMBER)).ok()?.trim().parse().ok()?;
    let name = format!("md{number}");
    let own = format!("/sys/class/block/{name}");
    let state = root.text(&format!("{own}/md/array_state")).ok()?;
    let free = root.names(&format!("{own}/slaves")).is_empty();
    (free && ["clear", "inactive"].contains(&state.as_str())).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    #[test]
    fn a_device_is_found_by_what_it_is_made_of() {
        let machine = FakeMachine::new();
        let root = machine.root();
        let folder = Path::new("/tmp/assay-scratch-1-2-3");
        assert_eq!(find(&root, folder), None);
        machine.put("/sys/class/block/loop3/loop/backing_file", "/tmp/assay-scratch-1-2-3/disk0\n");
        machine.put("/sys/class/block/loop4/loop/backing_file", "/tmp/other/disk0\n");
        machine.put("/sys/class/block/md0/slaves/loop4/x", "");
        machine.put("/sys/class/block/dm-0/dm/name", "home\n");
        assert_eq!(find(&root, folder), None, "those are a person's");
        machine.put("/sys/class/block/md127/slaves/loop3/x", "");
        assert_eq!(find(&root, folder).as_deref(), Some("md127"));
        machine.put("/sys/class/block/dm-1/dm/name", "assay-scratch-1-2-3\n");
        assert_eq!(find(&root, folder).as_deref(), Some("dm-1"));
    }

    #[test]
    fn what_the_kernel_lacks_is_reported() {
        let machine = FakeMachine::new();
        let error = check(&machine.root(), Stack::Md(Raid::Five)).unwrap_err().reason;
        assert!(error.contains("MD") && error.contains("md_mod"), "{error}");
        machine.put("/sys/module/dm_mod/x", "");
        let error = check(&machine.root(), Stack::Delay(5)).unwrap_err().reason;
        assert!(error.contains("dm_delay"), "{error}");
        machine.put("/sys/module/dm_delay/x", "");
        check(&machine.root(), Stack::Delay(5)).unwrap();
    }

    #[test]
    fn an_array_that_was_just_begun_is_distinguished_from_a_persons() {
        let (machine, folder) = (FakeMachine::new(), tempfile::tempdir().unwrap());
        machine.put("/sys/class/block/md5/md/array_state", "clear\n");
        assert_eq!(empty(&machine.root(), folder.path()), None);
        fs::write(folder.path().join(NUMBER), "5").unwrap();
        assert_eq!(empty(&machine.root(), folder.path()).as_deref(), Some("md5"));
        machine.put("/sys/class/block/md5/slaves/sda/x", "");
        assert_eq!(empty(&machine.root(), folder.path()), None);
    }
}
