//! Makes storage cold: writes the trial's input to the devices and drops it from all caches; if the
//! storage is an image, makes the image from the input.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use assay_model::units::format_bytes;
use rustix::fs::{Advice, fadvise, syncfs};

use crate::{Root, Unavailable};

use super::device::Device;
use super::level::{ImageFormat, StorageKind, StorageLevel};
use super::loops::loops_of;
use super::place::{MOUNT, mount_devices, within};
use super::{removal, stacked, tools, zfs, zram};

/// Number of bytes copied at once.
const CHUNK: usize = 1 << 20;

/// Makes the storage of a folder cold. Returns sentences for the record.
///
/// # Errors
/// The failed step.
pub(super) fn make_cold(
    root: &Root,
    level: &StorageLevel,
    folder: &Path,
) -> Result<Vec<String>, Unavailable> {
    match &level.kind {
        StorageKind::Tmpfs => {
            Ok(vec!["the input is in memory (tmpfs): reading it is never cold".to_owned()])
        }
        StorageKind::Folder(_) => drop_files(&within(folder, folder)).map(|()| Vec::new()),
        StorageKind::Zfs { .. } => zfs::reopen(folder).map(|()| Vec::new()),
        StorageKind::Image(format) => Ok(vec![image(root, *format, level, folder)?]),
        StorageKind::Loop { .. }
        | StorageKind::Stacked { .. }
        | StorageKind::Zram(_)
        | StorageKind::Device(_) => {
            let devices = devices(root, level, folder)?;
            // Unmounting makes the kernel drop everything that it has cached of the file system.
            removal::unmount(folder, &folder.join(MOUNT), || Ok(()))?;
            forget_backing(folder, level.kind.files());
            mount_devices(folder, level, &devices).map(|()| Vec::new())
        }
    }
}

fn devices(root: &Root, level: &StorageLevel, folder: &Path) -> Result<Vec<Device>, Unavailable> {
    let names = match &level.kind {
        StorageKind::Device(path) => return Ok(vec![Device::find(root, path)?]),
        StorageKind::Zram(_) => {
            zram::number(folder).map(|n| format!("zram{n}")).into_iter().collect()
        }
        StorageKind::Stacked { .. } => stacked::find(root, folder).into_iter().collect(),
        _ => loops_of(root, folder),
    };
    names.iter().map(|name| Device::find(root, Path::new(&format!("/dev/{name}")))).collect()
}

/// Drops the cached pages of the files behind loop devices in the file system that holds them.
fn forget_backing(folder: &Path, files: u32) {
    for n in 0..files {
        if let Ok(file) = File::open(folder.join(format!("disk{n}"))) {
            let _ = file.sync_data();
            let _ = fadvise(&file, 0, None, Advice::DontNeed);
        }
    }
}

/// Writes back all files below a folder and drops their cached pages.
fn drop_files(dir: &Path) -> Result<(), Unavailable> {
    let failed = |path: &Path, e: std::io::Error| format!("`{}`: {e}", path.display());
    let top = File::open(dir).map_err(|e| failed(dir, e))?;
    syncfs(&top).map_err(|e| failed(dir, e.into()))?;
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|e| failed(&folder, e))?.flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() => {
                    let file = File::open(&path).map_err(|e| failed(&path, e))?;
                    fadvise(&file, 0, None, Advice::DontNeed)
                        .map_err(|e| failed(&path, e.into()))?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Makes an image of the folder's `mnt` and mounts it over the same place, so that paths stay the
/// same.
fn image(
    root: &Root,
    format: ImageFormat,
    level: &StorageLevel,
    folder: &Path,
) -> Result<String, String> {
    let (from, to) = (folder.join(MOUNT), folder.join("image"));
    let (program, _) = format.maker();
    let arguments = arguments(format, level, &from, &to);
    tools::run(folder, program, arguments)?;
    let devices = devices(root, level, folder)?;
    let device = devices.first().ok_or("the loop device of the image no longer exists")?;
    let size = copy(&to, &folder.join("disk0"), level.size)?;
    fs::remove_file(&to).map_err(|e| format!("`{}`: {e}", to.display()))?;
    // Earlier reads of the device (its first blocks, by udev) are out of date now.
    tools::run(folder, "blockdev", ["--flushbufs", &format!("/dev/{}", device.name)])?;
    forget_backing(folder, 1);
    mount_devices(folder, level, &devices)?;
    Ok(format!("the input is in an image of {} ({})", format_bytes(size), format.name()))
}

fn arguments(format: ImageFormat, level: &StorageLevel, from: &Path, to: &Path) -> Vec<String> {
    let (from, to) = (from.to_string_lossy().into_owned(), to.to_string_lossy().into_owned());
    let compress = level.compress.as_deref();
    match format {
        ImageFormat::Squashfs => {
            let (name, step) = compress.unwrap_or("gzip").split_once(':').map_or_else(
                || (compress.unwrap_or("gzip"), None),
                |(name, step)| (name, Some(step)),
            );
            let mut all: Vec<String> =
                ["-noappend", "-no-progress", "-quiet", "-comp", name].map(str::to_owned).into();
            if let Some(step) = step {
                all.extend(["-Xcompression-level".to_owned(), step.to_owned()]);
            }
            [vec![from, to], all].concat()
        }
        ImageFormat::Erofs => {
            let mut all = vec!["--quiet".to_owned()];
            all.extend(compress.map(|c| format!("-z{}", c.replace(':', ","))));
            [all, vec![to, from]].concat()
        }
    }
}

/// Copies an image to the start of the file behind a device. Returns the image's size in bytes.
fn copy(from: &Path, to: &Path, room: u64) -> Result<u64, String> {
    let failed = |e: std::io::Error| format!("cannot copy the image to `{}`: {e}", to.display());
    let source = File::open(from).map_err(failed)?;
    let size = source.metadata().map_err(failed)?.len();
    if size > room {
        return Err(format!(
            "the image needs {}, but the device has {}; give a larger size=",
            format_bytes(size),
            format_bytes(room)
        ));
    }
    let target = File::options().write(true).open(to).map_err(failed)?;
    let mut buffer = vec![0; CHUNK];
    let mut at = 0;
    while at < size {
        let part = CHUNK.min((size - at) as usize);
        source.read_exact_at(&mut buffer[..part], at).map_err(failed)?;
        target.write_all_at(&buffer[..part], at).map_err(failed)?;
        at += part as u64;
    }
    target.sync_all().map_err(failed)?;
    Ok(size)
}
