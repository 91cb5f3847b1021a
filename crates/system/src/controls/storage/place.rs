//! Creates and mounts the folder of a trial's storage; [`crate::controls::storage::removal`]
//! removes it again.
//!
//! `FOLDER/disk0`, `disk1` ... are the files of loop devices, `FOLDER/md` holds the number of an
//! array over them, `FOLDER/zram` that of a zram device, and `FOLDER/pool` the driver of a ZFS
//! pool. `FOLDER/mnt` is the mount point. The trial's own folder is in `mnt`, or in `FOLDER` if
//! nothing is mounted. It has the same name as `FOLDER`, which no folder of a user has.

use std::fs::{self, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FallocateFlags;

use crate::state::scratch;
use crate::{Root, Unavailable};

use super::device::Device;
use super::level::{Raid, Stack, StorageKind, StorageLevel, System};
use super::{stacked, tools, zfs, zram};

/// Environment variable with the kernel's names of the devices below the storage.
pub(super) const DEVICES: &str = "ASSAY_STORAGE_DEVICES";
pub(super) const MOUNT: &str = "mnt";

/// The storage that was created.
#[derive(Debug)]
pub(super) struct CreatedStorage {
    /// The trial's own folder.
    pub files: PathBuf,
    /// The block devices below the storage.
    pub devices: Vec<Device>,
    /// Sentences for the record of the trial.
    pub notes: Vec<String>,
    /// Process id of the daemon that drives the storage, if it is not the kernel.
    pub daemon: Option<u32>,
}

/// Returns the folder in which a level will be created; creates nothing.
pub(super) fn folder(level: &StorageLevel) -> PathBuf {
    let root = match &level.kind {
        StorageKind::Folder(path) => path.clone(),
        _ => level.within.clone().unwrap_or_else(scratch::root),
    };
    root.join(scratch::name())
}

/// Returns the trial's own folder in `parent`.
pub(super) fn within(parent: &Path, folder: &Path) -> PathBuf {
    parent.join(folder.file_name().unwrap_or_default())
}

/// Creates the folder and the mounts in it, but not the trial's own folder.
///
/// # Errors
/// The failed step. [`removal::take_away`](super::removal::take_away) removes everything created
/// before the error.
pub(super) fn make(
    root: &Root,
    level: &StorageLevel,
    folder: &Path,
) -> Result<CreatedStorage, Unavailable> {
    let at = |path: &Path, e: std::io::Error| format!("cannot create `{}`: {e}", path.display());
    fs::DirBuilder::new().mode(scratch::EVERYBODY).create(folder).map_err(|e| at(folder, e))?;
    let mut made = CreatedStorage {
        files: within(folder, folder),
        devices: Vec::new(),
        notes: Vec::new(),
        daemon: None,
    };
    let mount = folder.join(MOUNT);
    if !matches!(level.kind, StorageKind::Folder(_)) {
        fs::create_dir(&mount).map_err(|e| at(&mount, e))?;
        made.files = within(&mount, folder);
    }
    for n in 0..level.kind.files() {
        let file = folder.join(format!("disk{n}"));
        reserve(&file, level.size)?;
        made.devices.push(attach(root, &file, &mut made.notes)?);
    }
    match &level.kind {
        StorageKind::Folder(_) | StorageKind::Image(_) => {}
        StorageKind::Tmpfs => {
            let options = format!("size={},nosuid,nodev", level.size);
            mount_it(folder, "tmpfs".as_ref(), &mount, Some("tmpfs"), &options)?;
        }
        StorageKind::Device(path) => {
            made.devices.push(Device::find(root, path)?);
            mount_devices(folder, level, &made.devices)?;
        }
        StorageKind::Loop { system, raid, .. } => {
            make_system(folder, *system, *raid, &made.devices)?;
            mount_devices(folder, level, &made.devices)?;
        }
        StorageKind::Stacked { system, stack, .. } => {
            let device = stacked::make(root, folder, *stack, level, &made.devices)?;
            if let Stack::Delay(millis) = stack {
                made.notes.push(format!(
                    "an EMULATED latency: the device mapper delays every request of `{}` by \
                     {millis} ms before it reaches the device below",
                    device.name
                ));
            }
            let parts: Vec<&str> = made.devices.iter().map(|d| d.name.as_str()).collect();
            made.notes.push(format!(
                "`{}` is the {} over {}",
                device.name,
                stack.describe(),
                parts.join(" and ")
            ));
            let device = [device];
            make_system(folder, *system, None, &device)?;
            mount_devices(folder, level, &device)?;
        }
        StorageKind::Zram(system) => {
            made.devices.push(zram::make(root, folder, level)?);
            make_system(folder, *system, None, &made.devices)?;
            mount_devices(folder, level, &made.devices)?;
        }
        StorageKind::Zfs { driver, raid, .. } => {
            made.daemon = zfs::make(folder, *driver, *raid, level, &made.devices)?;
        }
    }
    Ok(made)
}

/// Mounts the file system on these devices.
pub(super) fn mount_devices(
    folder: &Path,
    level: &StorageLevel,
    devices: &[Device],
) -> Result<(), Unavailable> {
    let mut options = vec!["nosuid,nodev".to_owned()];
    let kind = match &level.kind {
        StorageKind::Loop { system, .. } => {
            options.extend(level.compress.as_ref().map(|c| format!("compress={c}")));
            // The kernel must be told the other devices of a raid, because nothing else scans for
            // them.
            options.extend(devices.iter().skip(1).map(|d| format!("device=/dev/{}", d.name)));
            Some(system.name())
        }
        StorageKind::Zram(system) | StorageKind::Stacked { system, .. } => Some(system.name()),
        StorageKind::Image(format) => {
            options.push("ro".to_owned());
            Some(format.name())
        }
        StorageKind::Folder(_)
        | StorageKind::Tmpfs
        | StorageKind::Zfs { .. }
        | StorageKind::Device(_) => None,
    };
    let first = devices.first().ok_or_else(|| "there is no device to mount".to_owned())?;
    let first = format!("/dev/{}", first.name);
    mount_it(folder, first.as_ref(), &folder.join(MOUNT), kind, &options.join(","))
}

/// Creates the trial's own folder.
pub(super) fn make_files(made: &CreatedStorage) -> Result<(), Unavailable> {
    fs::create_dir(&made.files)
        .map_err(|e| format!("cannot create `{}`: {e}", made.files.display()).into())
}

fn mount_it(
    folder: &Path,
    what: &Path,
    to: &Path,
    kind: Option<&str>,
    options: &str,
) -> Result<(), Unavailable> {
    let mut arguments: Vec<&std::ffi::OsStr> = vec!["-o".as_ref(), options.as_ref()];
    if let Some(kind) = kind {
        arguments.extend::<[&std::ffi::OsStr; 2]>(["-t".as_ref(), kind.as_ref()]);
    }
    arguments.extend([what.as_os_str(), to.as_os_str()]);
    tools::run(folder, "mount", arguments).map(|_| ())
}

/// Creates a file of this size with all blocks allocated, so that the trial cannot run out of them.
fn reserve(path: &Path, size: u64) -> Result<(), String> {
    let make = || {
        let file = File::create_new(path)?;
        match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, size) {
            Ok(()) => Ok(()),
            Err(rustix::io::Errno::OPNOTSUPP) => file.set_len(size),
            Err(e) => Err(e.into()),
        }
    };
    make().map_err(|e| {
        format!(
            "cannot create `{}` of {}: {e}; choose another folder with in=, or a smaller size=",
            path.display(),
            assay_model::units::format_bytes(size)
        )
    })
}

/// Attaches a file to a loop device, with direct I/O if the file's own file system supports it.
fn attach(root: &Root, file: &Path, notes: &mut Vec<String>) -> Result<Device, Unavailable> {
    let folder = file.parent().unwrap_or(file);
    let path =
        tools::run(folder, "losetup", ["--find".as_ref(), "--show".as_ref(), file.as_os_str()])?;
    if tools::run(folder, "losetup", ["--direct-io=on", &path]).is_err() {
        notes.push(format!(
            "{path} goes through the page cache of the file system that its file is on: repeated \
             reads cost less than on a disk"
        ));
    }
    Device::find(root, Path::new(&path))
}

fn make_system(
    folder: &Path,
    system: System,
    raid: Option<Raid>,
    devices: &[Device],
) -> Result<(), Unavailable> {
    // Nothing is discarded, and no initialization is left for the kernel to do during the trial.
    let mut arguments: Vec<String> = match system {
        System::Ext4 => {
            vec!["-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"]
        }
        System::Xfs | System::Btrfs => vec!["-q", "-f", "-K"],
    }
    .into_iter()
    .map(str::to_owned)
    .collect();
    if let Some(raid) = raid {
        arguments.extend(["-d", raid.name(), "-m", "raid1"].map(str::to_owned));
    }
    arguments.extend(devices.iter().map(|d| format!("/dev/{}", d.name)));
    tools::run(folder, system.maker().0, arguments).map(|_| ())
}
