//! Runs a solver to its end and samples its resource usage: time, scratch space, devices, stalls.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_model::Exit;
use assay_system::{end_with_parent, wait_any};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::Failure;
use crate::builtin::cae::devices::{Bytes, Devices};
use crate::driver::program::log_to;
use crate::failure::Result;

/// Sampling interval of the scratch space.
pub(super) const LOOK: Duration = Duration::from_millis(50);
/// Maximum time for a solver to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(3);

/// Maximum time for a solver to continue in a full folder. MUMPS, which writes its files from a
/// separate thread, sometimes waits forever instead of reporting the error.
pub(super) const FULL: Duration = Duration::from_secs(20);

/// Exit status and resource usage of a solver.
#[derive(Debug, Clone, PartialEq)]
pub struct SolverRun {
    pub exit: Exit,
    /// Wall time from start to end, seconds.
    pub elapsed_s: f64,
    /// CPU time in user mode of the solver and the processes that it waited for, seconds.
    pub user_s: f64,
    /// CPU time in the kernel of the same processes, seconds.
    pub system_s: f64,
    /// Maximum space used by the solver's files in bytes.
    pub scratch: u64,
    /// Bytes transferred meanwhile by the devices below the folder.
    pub devices: Option<Bytes>,
    /// Time in which some task of the machine was stalled on I/O, seconds.
    pub stalled_s: Option<f64>,
}

/// Runs `command` in `dir` with its output in the file `log`.
///
/// # Errors
/// Fails if the command cannot be started, is stopped by a signal to assay, or hangs in a full
/// folder.
pub fn run(mut command: Command, dir: &Path, log: &Path, stop: &AtomicBool) -> Result<SolverRun> {
    command.current_dir(dir).stdin(Stdio::null()).process_group(0);
    log_to(&mut command, log)?;
    end_with_parent(&mut command, None);
    let devices = Devices::below(dir);
    let (before, stalled) = (devices.as_ref().and_then(Devices::bytes), stalled_s());
    let beside = space(dir);
    let program = command.get_program().to_string_lossy().into_owned();
    let began = Instant::now();
    let child = command.spawn().map_err(Failure::start(program))?;
    let pid = Pid::from_child(&child);
    let fd = pidfd_open(pid, PidfdFlags::empty()).map_err(Failure::step("the solver's end"))?;
    let mut most = 0;
    let mut full: Option<Instant> = None;
    loop {
        if ends_within(&fd, LOOK)? {
            break;
        }
        most = most.max(space(dir).saturating_sub(beside));
        full = if no_room(dir) { full.or_else(|| Some(Instant::now())) } else { None };
        let stuck = full.is_some_and(|since| since.elapsed() > FULL);
        if stuck || stop.load(Ordering::Acquire) {
            // mpirun must end the MPI processes, so it gets SIGTERM first.
            let _ = kill_process(pid, Signal::TERM);
            if !ends_within(&fd, GRACE)? {
                let _ = kill_process(pid, Signal::KILL);
            }
            return Err(if stuck { full_folder(dir) } else { Failure::Stopped });
        }
    }
    let elapsed_s = began.elapsed().as_secs_f64();
    let after = devices.as_ref().and_then(Devices::bytes);
    let stalled_s = stalled_s().zip(stalled).map(|(now, then)| now - then);
    // Processes that the solver left behind may have become children of this process.
    let used = loop {
        let used = wait_any().map_err(Failure::step("the solver's end"))?;
        if used.pid.cast_unsigned() == child.id() {
            break used;
        }
    };
    Ok(SolverRun {
        exit: used.exit,
        elapsed_s,
        user_s: used.user_s,
        system_s: used.system_s,
        scratch: most.max(space(dir).saturating_sub(beside)),
        devices: after.zip(before).map(|(a, b)| Bytes {
            read: a.read.saturating_sub(b.read),
            written: a.written.saturating_sub(b.written),
        }),
        stalled_s,
    })
}

/// Returns true if the process ends within `limit`.
fn ends_within(fd: &impl std::os::fd::AsFd, limit: Duration) -> Result<bool> {
    // A limit that does not fit into the kernel's type is dropped.
    let limit = Timespec::try_from(limit).ok();
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    match poll(&mut fds, limit.as_ref()) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(e) => Err(Failure::step("the solver's end")(e)),
    }
}

/// Returns true if the file system of a folder is full.
pub(super) fn no_room(dir: &Path) -> bool {
    rustix::fs::statvfs(dir).is_ok_and(|about| about.f_bfree == 0)
}

/// Returns the space in bytes that the files in a folder use. Files that vanish meanwhile do not
/// count.
pub(super) fn space(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let each = entries.flatten().filter_map(|entry| {
        let about = entry.metadata().ok()?;
        Some(if about.is_dir() { space(&entry.path()) } else { about.blocks() * 512 })
    });
    each.sum()
}

/// Returns the seconds since boot in which some task was stalled on I/O, or `None` if the kernel
/// does not report them.
pub(super) fn stalled_s() -> Option<f64> {
    let text = fs::read_to_string("/proc/pressure/io").ok()?;
    let some = text.lines().find(|l| l.starts_with("some "))?;
    let total: f64 = some.rsplit_once("total=")?.1.trim().parse().ok()?;
    Some(total * 1e-6)
}

/// Returns the failure of a solver that hangs in a full folder.
pub fn full_folder(dir: &Path) -> Failure {
    Failure::other(format!(
        "no space is left in {}, and the solver hangs: give the storage a larger `size=`",
        dir.display()
    ))
}
