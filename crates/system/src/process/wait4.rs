//! `wait4(2)`: waits for a child and returns its exit status and resource use. It is the only
//! interface that reports the use of one child instead of all of them.
#![allow(unsafe_code)] // neither std nor rustix offers wait4

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use assay_model::{Exit, ResourceUse};

fn seconds(t: libc::timeval) -> f64 {
    t.tv_sec as f64 + t.tv_usec as f64 * 1e-6
}

/// Returns what the kernel counted for a child and the children that it waited for. The largest
/// resident set includes the image that called `exec`.
fn used(r: &libc::rusage) -> ResourceUse {
    ResourceUse {
        user_s: seconds(r.ru_utime),
        system_s: seconds(r.ru_stime),
        peak_memory_bytes: Some(r.ru_maxrss as u64 * 1024),
        major_faults: r.ru_majflt as u64,
        minor_faults: r.ru_minflt as u64,
        voluntary_switches: r.ru_nvcsw as u64,
        involuntary_switches: r.ru_nivcsw as u64,
        storage_read_bytes: Some(r.ru_inblock as u64 * 512),
        storage_written_bytes: Some(r.ru_oublock as u64 * 512),
        ..ResourceUse::default()
    }
}

/// Reaps `pid`, or any child if it is -1. Returns `Ok(None)` if there are such children but none
/// has exited (only if `block` is false), and `ECHILD` if there is no such child.
pub(crate) fn wait4(pid: i32, block: bool) -> io::Result<Option<(i32, Exit, ResourceUse)>> {
    let options = if block { 0 } else { libc::WNOHANG };
    loop {
        let mut status = 0;
        // SAFETY: an all-zero rusage is a valid value of that plain C struct.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are to live locals of the right type.
        let reaped = unsafe { libc::wait4(pid, &raw mut status, options, &raw mut usage) };
        match reaped {
            0 => return Ok(None),
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            reaped => {
                let exit = if libc::WIFSIGNALED(status) {
                    Exit::Signal(libc::WTERMSIG(status))
                } else {
                    Exit::Code(libc::WEXITSTATUS(status))
                };
                return Ok(Some((reaped, exit, used(&usage))));
            }
        }
    }
}

/// A child that has exited, and its resource use.
#[derive(Debug, Clone, Copy)]
pub struct ExitedChild {
    pub pid: i32,
    pub exit: Exit,
    /// CPU time in user mode, in seconds, of the child and the children that it waited for.
    pub user_s: f64,
    /// CPU time in the kernel, in seconds, of the same processes.
    pub system_s: f64,
    /// Largest resident set of any of these processes in bytes; includes the image that called
    /// `exec`.
    pub peak_memory_bytes: u64,
}

/// Waits until any child of this process exits.
///
/// # Errors
/// If there is no child.
pub fn wait_any() -> io::Result<ExitedChild> {
    loop {
        if let Some((pid, exit, usage)) = wait4(-1, true)? {
            let ResourceUse { user_s, system_s, peak_memory_bytes, .. } = usage;
            let peak_memory_bytes = peak_memory_bytes.unwrap_or_default();
            return Ok(ExitedChild { pid, exit, user_s, system_s, peak_memory_bytes });
        }
    }
}

/// Returns the largest resident set of this process so far, in bytes.
pub(crate) fn own_peak_memory() -> u64 {
    // SAFETY: an all-zero rusage is a valid value of that plain C struct.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live local of the right type.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) } == 0 {
        usage.ru_maxrss as u64 * 1024
    } else {
        u64::MAX
    }
}

/// Makes the program that the command starts join control groups, given by their folders. It joins
/// between fork and exec, so that no page of the program is charged elsewhere.
///
/// # Errors
/// If a group's `cgroup.procs` cannot be opened; returns its path.
pub fn join_groups(
    command: &mut std::process::Command,
    groups: &[PathBuf],
) -> Result<(), (PathBuf, io::Error)> {
    use std::os::fd::AsRawFd as _;
    use std::os::unix::process::CommandExt as _;
    for procs in open_groups(groups)? {
        // SAFETY: the closure runs between fork and exec and calls one async-signal-safe function
        // (write) with a live buffer; it owns the file, which stays open as long as the command.
        unsafe {
            command.pre_exec(move || {
                // 0 means the process that writes.
                let done = libc::write(procs.as_raw_fd(), c"0".as_ptr().cast(), 1);
                if done == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
            });
        }
    }
    Ok(())
}

/// Opens the `cgroup.procs` of control groups; on failure returns its path.
pub(crate) fn open_groups(groups: &[PathBuf]) -> Result<Vec<OwnedFd>, (PathBuf, io::Error)> {
    let open = |group: &PathBuf| {
        let path = group.join("cgroup.procs");
        let opened = std::fs::File::options().write(true).open(&path);
        opened.map(OwnedFd::from).map_err(|source| (path, source))
    };
    groups.iter().map(open).collect()
}
