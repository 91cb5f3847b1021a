//! The folder of one trial's storage: made, mounted, and taken away again from nothing but its path, at
//! whatever point it was left.
//!
//! `FOLDER/disk0`, `disk1` ... are the files of loop devices, `FOLDER/mnt` is where they or a device are
//! mounted, and the trial's own folder is in `mnt`, or in `FOLDER` where nothing is mounted. It is called
//! as `FOLDER` is, a name that nothing of a person's has.

use std::fs::{self, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::FallocateFlags;
use rustix::process::{Pid, Signal, kill_process};

use crate::{Root, mounts, scratch};

use super::device::Device;
use super::level::{Kind, Level, Raid, System};
use super::tools;

/// The variable by which the program finds it.
pub(super) const VARIABLE: &str = "ASSAY_STORAGE";
const MOUNT: &str = "mnt";
/// How long a file system may stay busy after its programs were ended.
const PATIENCE: Duration = Duration::from_secs(5);

/// What was made.
#[derive(Debug)]
pub(super) struct Made {
    /// The trial's folder.
    pub files: PathBuf,
    /// The devices below it.
    pub devices: Vec<Device>,
    /// What to know about it.
    pub notes: Vec<String>,
}

/// The folder that a level is to be made in; nothing is made yet.
pub(super) fn folder(level: &Level) -> PathBuf {
    let root = match &level.kind {
        Kind::Folder(path) => path.clone(),
        _ => level.within.clone().unwrap_or_else(scratch::root),
    };
    root.join(scratch::name())
}

/// The trial's own folder in `parent`.
fn within(parent: &Path, folder: &Path) -> PathBuf {
    parent.join(folder.file_name().unwrap_or_default())
}

/// Makes the folder and what is mounted in it, but not the trial's own folder.
///
/// # Errors
/// A sentence. What was made so far is for [`take_away`].
pub(super) fn make(root: &Root, level: &Level, folder: &Path) -> Result<Made, String> {
    let at = |path: &Path, e: std::io::Error| format!("`{}` cannot be made: {e}", path.display());
    fs::DirBuilder::new().mode(scratch::EVERYBODY).create(folder).map_err(|e| at(folder, e))?;
    let mut made = Made { files: within(folder, folder), devices: Vec::new(), notes: Vec::new() };
    let mount = folder.join(MOUNT);
    if !matches!(level.kind, Kind::Folder(_)) {
        fs::create_dir(&mount).map_err(|e| at(&mount, e))?;
        made.files = within(&mount, folder);
    }
    match &level.kind {
        Kind::Folder(_) => {}
        Kind::Tmpfs => {
            let options = format!("size={},nosuid,nodev", level.size);
            mount_it(folder, "tmpfs".as_ref(), &mount, Some("tmpfs"), &options)?;
        }
        Kind::Device(path) => {
            made.devices.push(Device::find(root, path)?);
            mount_it(folder, path, &mount, None, "nosuid,nodev")?;
        }
        Kind::Loop { system, devices, raid } => {
            for n in 0..*devices {
                let file = folder.join(format!("disk{n}"));
                reserve(&file, level.size)?;
                made.devices.push(attach(root, &file, &mut made.notes)?);
            }
            make_system(folder, *system, *raid, &made.devices)?;
            let mut options = vec!["nosuid,nodev".to_owned()];
            options.extend(level.compress.clone());
            // The kernel is told the other devices of a raid; nobody else looks for them.
            options.extend(made.devices[1..].iter().map(|d| format!("device=/dev/{}", d.name)));
            let first = format!("/dev/{}", made.devices[0].name);
            mount_it(folder, first.as_ref(), &mount, Some(system.name()), &options.join(","))?;
        }
    }
    Ok(made)
}

/// Makes the trial's own folder.
pub(super) fn make_files(made: &Made) -> Result<(), String> {
    fs::create_dir(&made.files)
        .map_err(|e| format!("`{}` cannot be made: {e}", made.files.display()))
}

fn mount_it(
    folder: &Path,
    what: &Path,
    to: &Path,
    kind: Option<&str>,
    options: &str,
) -> Result<(), String> {
    let mut arguments: Vec<&std::ffi::OsStr> = vec!["-o".as_ref(), options.as_ref()];
    if let Some(kind) = kind {
        arguments.extend::<[&std::ffi::OsStr; 2]>(["-t".as_ref(), kind.as_ref()]);
    }
    arguments.extend([what.as_os_str(), to.as_os_str()]);
    tools::run(folder, "mount", arguments).map(|_| ())
}

/// A file of that size whose blocks are its own, so that the trial cannot run out of them.
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
            "`{}` of {} cannot be made: {e}; choose another folder with in=, or a smaller size=",
            path.display(),
            assay_model::units::format_bytes(size)
        )
    })
}

/// Attaches a file to a loop device, past the page cache where the file's own file system can.
fn attach(root: &Root, file: &Path, notes: &mut Vec<String>) -> Result<Device, String> {
    let folder = file.parent().unwrap_or(file);
    let path =
        tools::run(folder, "losetup", ["--find".as_ref(), "--show".as_ref(), file.as_os_str()])?;
    if tools::run(folder, "losetup", ["--direct-io=on", &path]).is_err() {
        notes.push(format!(
            "{path} goes through the page cache of the file system that its file is on: what it \
             reads again costs less than on a disk"
        ));
    }
    Device::find(root, Path::new(&path))
}

/// The program that makes a file system.
pub(super) fn maker(system: System) -> String {
    format!("mkfs.{}", system.name())
}

fn make_system(
    folder: &Path,
    system: System,
    raid: Option<Raid>,
    devices: &[Device],
) -> Result<(), String> {
    // Nothing is discarded, and nothing is left for the kernel to do during the trial.
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
    tools::run(folder, &maker(system), arguments).map(|_| ())
}

/// Whether anything of a folder is there: itself, a mount below it, a loop device on a file in it.
pub(super) fn exists(root: &Root, folder: &Path) -> bool {
    root.path(&folder.to_string_lossy()).exists()
        || !mounts_below(root, folder).is_empty()
        || !loops_of(root, folder).is_empty()
}

fn mounts_below(root: &Root, folder: &Path) -> Vec<mounts::Mount> {
    mounts::all(root).into_iter().filter(|m| m.point.starts_with(folder)).collect()
}

/// The loop devices on files in a folder, removed ones too.
fn loops_of(root: &Root, folder: &Path) -> Vec<String> {
    let blocks = root.names("/sys/class/block").into_iter().filter(|n| n.starts_with("loop"));
    let backing = |name: &String| {
        root.text(&format!("/sys/class/block/{name}/loop/backing_file"))
            .is_ok_and(|file| Path::new(&file).starts_with(folder))
    };
    blocks.filter(backing).collect()
}

/// Takes everything of a folder away.
///
/// # Errors
/// A sentence: what could not be taken away, and who holds it.
pub(super) fn take_away(root: &Root, folder: &Path) -> Result<(), String> {
    let folder = &folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    end_programs(folder)?;
    let loops = loops_of(root, folder);
    for mount in mounts_below(root, folder).iter().rev() {
        // A file system that goes with its image need not be emptied; a person's own is left as it was.
        if loops.is_empty() && mount.kind != "tmpfs" {
            remove(&within(&mount.point, folder))?;
        }
        unmount(folder, &mount.point)?;
    }
    for name in &loops {
        let device = format!("/dev/{name}");
        if let Some(program) = tools::find("btrfs") {
            // The kernel remembers devices of btrfs, and would take a later one for a part of these.
            let program = program.to_string_lossy().into_owned();
            let _ = tools::run(folder, &program, ["device", "scan", "--forget", &device]);
        }
        tools::run(folder, "losetup", ["--detach", &device])?;
    }
    let began = Instant::now();
    while !loops_of(root, folder).is_empty() {
        if began.elapsed() > PATIENCE {
            return Err(format!("a loop device of `{}` is still in use", folder.display()));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    if let Some(mount) = mounts_below(root, folder).first() {
        return Err(format!("`{}` is still mounted", mount.point.display()));
    }
    remove(folder)
}

fn remove(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("`{}` cannot be removed: {e}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Unmounts; what still holds it may be about to go.
fn unmount(folder: &Path, point: &Path) -> Result<(), String> {
    let began = Instant::now();
    loop {
        let Err(said) = tools::run(folder, "umount", [point]) else { return Ok(()) };
        if began.elapsed() > PATIENCE {
            return Err(format!(
                "{said}; see who uses it with `fuser -vm {}` and end that",
                point.display()
            ));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Ends what a killed assay left running: the trial's program, or one that was making the storage.
fn end_programs(folder: &Path) -> Result<(), String> {
    let began = Instant::now();
    loop {
        let left = programs_of(folder);
        let Some(first) = left.first() else { return Ok(()) };
        if began.elapsed() > PATIENCE {
            let pid = first.as_raw_nonzero();
            return Err(format!("process {pid} works in `{}` and does not end", folder.display()));
        }
        for pid in left {
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The processes that were started with the variable that says that their files are here.
fn programs_of(folder: &Path) -> Vec<Pid> {
    let wanted = format!("{VARIABLE}={}/", folder.display());
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = processes.flatten().filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok());
    ids.filter(|pid| {
        let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        variables.split(|b| *b == 0).any(|v| v.starts_with(wanted.as_bytes()))
    })
    .filter_map(Pid::from_raw)
    .collect()
}
