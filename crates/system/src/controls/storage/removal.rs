//! Removes the folder of a trial's storage, given only its path, whatever state it was left in.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::process::leftovers;
use crate::read::mounts;
use crate::{Root, Unavailable};

use crate::controls::storage::loops::loops_of;
use crate::controls::storage::place::within;
use crate::controls::storage::tools::VARIABLE;
use crate::controls::storage::{stacked, tools, zfs, zram};

/// Maximum time that a file system may stay busy after its programs were killed.
const TIMEOUT: Duration = Duration::from_secs(5);

/// True if any part of the storage exists: the folder, a mount below it, a loop device on a file in
/// it, or a stacked device.
pub(super) fn exists(root: &Root, folder: &Path) -> bool {
    root.path(&folder.to_string_lossy()).exists()
        || !mounts_below(root, folder).is_empty()
        || !loops_of(root, folder).is_empty()
        || stacked::find(root, folder).is_some()
}

fn mounts_below(root: &Root, folder: &Path) -> Vec<mounts::Mount> {
    mounts::all(root).into_iter().filter(|m| m.point.starts_with(folder)).collect()
}

/// Removes everything that belongs to a folder.
///
/// # Errors
/// The part that could not be removed, and who uses it.
pub(super) fn take_away(root: &Root, folder: &Path) -> Result<(), Unavailable> {
    let folder = &folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    // A program that a killed assay had just started may mount or attach something meanwhile.
    Ok(attempt(root, folder).or_else(|_| attempt(root, folder))?)
}

fn attempt(root: &Root, folder: &Path) -> Result<(), String> {
    end_programs(folder)?;
    zfs::destroy(root, folder)?;
    let loops = loops_of(root, folder);
    // A file system that disappears with its image need not be emptied; a device that belongs to
    // the user is left as it was.
    let own = loops.is_empty() && zram::number(folder).is_none() && !zfs::is_pool(folder);
    for mount in mounts_below(root, folder).iter().rev() {
        if own && mount.kind != "tmpfs" {
            remove(&within(&mount.point, folder))?;
        }
        // A program that is just starting cannot be identified by its environment yet.
        unmount(folder, &mount.point, || Ok(end_programs(folder)?))?;
    }
    zram::take_away(root, folder)?;
    stacked::take_away(root, folder)?;
    for name in &loops {
        let device = format!("/dev/{name}");
        if let Some(program) = tools::find("btrfs") {
            // The kernel remembers devices of btrfs and would take a later one for a part of this
            // file system.
            let program = program.to_string_lossy().into_owned();
            let _ = tools::run(folder, &program, ["device", "scan", "--forget", &device]);
        }
        tools::run(folder, "losetup", ["--detach", &device])?;
    }
    let began = Instant::now();
    while !loops_of(root, folder).is_empty() {
        if began.elapsed() > TIMEOUT {
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
            Err(format!("cannot remove `{}`: {e}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Unmounts a file system. Its last users may be about to exit, so this retries and calls
/// `meanwhile` between attempts.
pub(super) fn unmount(
    folder: &Path,
    point: &Path,
    meanwhile: impl Fn() -> Result<(), Unavailable>,
) -> Result<(), Unavailable> {
    let began = Instant::now();
    loop {
        let Err(message) = tools::run(folder, "umount", [point]) else { return Ok(()) };
        if began.elapsed() > TIMEOUT {
            return Err(format!(
                "{message}; see who uses it with `fuser -vm {}` and end that",
                point.display()
            )
            .into());
        }
        meanwhile()?;
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Kills processes that a killed assay left running: the trial's program, a program that was making
/// the storage, or the daemon that drives it.
fn end_programs(folder: &Path) -> Result<(), String> {
    let began = Instant::now();
    let mut ended = Vec::new();
    loop {
        let left = programs_of(folder);
        let Some(first) = left.first() else { break };
        if began.elapsed() > TIMEOUT {
            let pid = first.as_raw_nonzero();
            return Err(format!("process {pid} works in `{}` and does not end", folder.display()));
        }
        for pid in left {
            let _ = kill_process(pid, Signal::KILL);
            ended.push(pid);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    for pid in ended {
        // Reaps a daemon of this process, for which nobody else waits; other processes are not its
        // children.
        let _ = waitpid(Some(pid), WaitOptions::empty());
        leftovers::no_longer_spared(pid);
    }
    Ok(())
}

/// Returns the processes that were started with the variable that names this folder.
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
