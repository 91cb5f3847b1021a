//! Runs a solver to its end and watches what it uses: time, space in scratch, devices, stalls.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_model::Exit;
use assay_sut::wait_any;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::devices::{Bytes, Devices};
use crate::Failure;
use crate::program::log_to;
use assay_sut::end_with_parent;

/// How often the space in scratch is looked at.
pub(super) const LOOK: Duration = Duration::from_millis(50);
/// How long a solver may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(3);

/// How long a solver may go on in a folder without any room. MUMPS, whose own thread writes its files, at times
/// waits for it forever instead of saying what it met.
pub(super) const FULL: Duration = Duration::from_secs(20);

/// What a solver left.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    /// How it ended.
    pub exit: Exit,
    /// From its start to its end, seconds.
    pub elapsed_s: f64,
    /// CPU time in user mode, of it and the processes that it waited for, seconds.
    pub user_s: f64,
    /// CPU time in the kernel of the same.
    pub system_s: f64,
    /// The most space that its files took, bytes.
    pub scratch: u64,
    /// What the devices below its folder did meanwhile.
    pub devices: Option<Bytes>,
    /// The time in which some task of the machine waited for I/O, seconds.
    pub stalled_s: Option<f64>,
}

/// Runs `command` in `dir`, its output in the file `log`.
///
/// # Errors
/// It cannot be started, is ended by a signal to assay, or does not come to an end in a full folder.
pub fn run(
    mut command: Command,
    dir: &Path,
    log: &Path,
    stop: &AtomicBool,
) -> Result<Ran, Failure> {
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
            // The processes of MPI are ended by mpirun, which is asked first.
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
    // What it leaves behind may have come to this process.
    let used = loop {
        let used = wait_any().map_err(Failure::step("the solver's end"))?;
        if used.pid.cast_unsigned() == child.id() {
            break used;
        }
    };
    Ok(Ran {
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

/// Whether the process ends within `limit`.
fn ends_within(fd: &impl std::os::fd::AsFd, limit: Duration) -> Result<bool, Failure> {
    // A limit that the kernel has no number for is none.
    let limit = Timespec::try_from(limit).ok();
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    match poll(&mut fds, limit.as_ref()) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(e) => Err(Failure::step("the solver's end")(e)),
    }
}

/// Whether nothing more fits into the file system of a folder.
pub(super) fn no_room(dir: &Path) -> bool {
    rustix::fs::statvfs(dir).is_ok_and(|about| about.f_bfree == 0)
}

/// The space that the files in a folder take, bytes. What goes away meanwhile does not count.
pub(super) fn space(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let each = entries.flatten().filter_map(|entry| {
        let about = entry.metadata().ok()?;
        Some(if about.is_dir() { space(&entry.path()) } else { about.blocks() * 512 })
    });
    each.sum()
}

/// The time in which some task waited for I/O since the machine was started; `None`: the kernel does not tell.
pub(super) fn stalled_s() -> Option<f64> {
    let text = fs::read_to_string("/proc/pressure/io").ok()?;
    let some = text.lines().find(|l| l.starts_with("some "))?;
    let total: f64 = some.rsplit_once("total=")?.1.trim().parse().ok()?;
    Some(total * 1e-6)
}

/// The solver stood still in a full folder.
pub fn full_folder(dir: &Path) -> Failure {
    Failure::other(format!(
        "no room is left in {}, and the solver neither went on nor ended: give the storage a larger `size=`",
        dir.display()
    ))
}
