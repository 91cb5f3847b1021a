//! Taking the folder of one trial's storage away, from nothing but its path, at whatever point it was
//! left.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::Root;
use crate::process::leftovers;
use crate::read::mounts;

use super::loops::loops_of;
use super::place::within;
use super::tools::VARIABLE;
use super::{stacked, tools, zfs, zram};

/// How long a file system may stay busy after its programs were ended.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Whether anything of a folder is there: itself, a mount below it, a loop device on a file in it.
pub(super) fn exists(root: &Root, folder: &Path) -> bool {
    root.path(&folder.to_string_lossy()).exists()
        || !mounts_below(root, folder).is_empty()
        || !loops_of(root, folder).is_empty()
        || stacked::find(root, folder).is_some()
}

fn mounts_below(root: &Root, folder: &Path) -> Vec<mounts::Mount> {
    mounts::all(root).into_iter().filter(|m| m.point.starts_with(folder)).collect()
}

/// Takes everything of a folder away.
///
/// # Errors
/// A sentence: what could not be taken away, and who holds it.
pub(super) fn take_away(root: &Root, folder: &Path) -> Result<(), String> {
    let folder = &folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    // A program that a killed assay had just started may mount or attach something meanwhile.
    attempt(root, folder).or_else(|_| attempt(root, folder))
}

fn attempt(root: &Root, folder: &Path) -> Result<(), String> {
    end_programs(folder)?;
    zfs::destroy(root, folder)?;
    let loops = loops_of(root, folder);
    // A file system that goes with its image need not be emptied; a person's own is left as it was.
    let own = loops.is_empty() && zram::number(folder).is_none() && !zfs::is_pool(folder);
    for mount in mounts_below(root, folder).iter().rev() {
        if own && mount.kind != "tmpfs" {
            remove(&within(&mount.point, folder))?;
        }
        // A program that is just starting cannot be identified by its environment yet.
        unmount(folder, &mount.point, || end_programs(folder))?;
    }
    zram::take_away(root, folder)?;
    stacked::take_away(root, folder)?;
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
            Err(format!("`{}` cannot be removed: {e}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Unmounts; what still holds it may be about to go, and `meanwhile` is done until it has.
pub(super) fn unmount(
    folder: &Path,
    point: &Path,
    meanwhile: impl Fn() -> Result<(), String>,
) -> Result<(), String> {
    let began = Instant::now();
    loop {
        let Err(message) = tools::run(folder, "umount", [point]) else { return Ok(()) };
        if began.elapsed() > TIMEOUT {
            return Err(format!(
                "{message}; see who uses it with `fuser -vm {}` and end that",
                point.display()
            ));
        }
        meanwhile()?;
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Ends what a killed assay left running: the trial's program, one that was making the storage, or the
/// daemon that drives it.
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
        // A daemon of this process, which nobody else waits for; others are not its children.
        let _ = waitpid(Some(pid), WaitOptions::empty());
        leftovers::no_longer_spared(pid);
    }
    Ok(())
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
