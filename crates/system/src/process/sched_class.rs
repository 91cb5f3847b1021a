//! The scheduling class of the calling thread: `sched_getscheduler(2)`, `sched_setscheduler(2)`.
#![allow(unsafe_code)] // rustix has no wrapper; C libraries other than glibc refuse these calls

use std::io;

use crate::process::setup::Sched;

/// A class in the kernel's form: policy with flags, and static priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SavedClass {
    policy: libc::c_int,
    priority: libc::c_int,
}

/// Returns the class of the calling thread, to be restored later.
pub(crate) fn saved() -> io::Result<SavedClass> {
    // SAFETY: the call takes a thread id (0: the calling thread) and accesses no memory.
    let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
    if policy < 0 {
        return Err(io::Error::last_os_error());
    }
    let policy = policy as libc::c_int;
    if policy & !libc::SCHED_RESET_ON_FORK == libc::SCHED_DEADLINE {
        return Err(io::Error::other(
            "assay itself runs as SCHED_DEADLINE, which cannot be restored",
        ));
    }
    let mut priority: libc::c_int = 0;
    // SAFETY: the kernel writes one `struct sched_param`, a single int on Linux, to the pointer.
    let got = unsafe { libc::syscall(libc::SYS_sched_getparam, 0, &raw mut priority) };
    if got < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(SavedClass { policy, priority })
}

/// Returns the class of the calling thread; `None` for a class that assay does not know.
pub(crate) fn current() -> io::Result<Option<Sched>> {
    let SavedClass { policy, priority } = saved()?;
    let priority = u8::try_from(priority).unwrap_or(0);
    Ok(match policy & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_OTHER => Some(Sched::Other),
        libc::SCHED_BATCH => Some(Sched::Batch),
        libc::SCHED_IDLE => Some(Sched::Idle),
        libc::SCHED_FIFO => Some(Sched::Fifo(priority)),
        libc::SCHED_RR => Some(Sched::Rr(priority)),
        _ => None,
    })
}

/// Sets the class of the calling thread.
pub(crate) fn set(class: Sched) -> io::Result<()> {
    let (policy, priority) = match class {
        Sched::Other => (libc::SCHED_OTHER, 0),
        Sched::Batch => (libc::SCHED_BATCH, 0),
        Sched::Idle => (libc::SCHED_IDLE, 0),
        Sched::Fifo(p) => (libc::SCHED_FIFO, p),
        Sched::Rr(p) => (libc::SCHED_RR, p),
    };
    restore(SavedClass { policy, priority: libc::c_int::from(priority) })
}

/// Restores a class of the calling thread.
pub(crate) fn restore(class: SavedClass) -> io::Result<()> {
    let priority = class.priority;
    // SAFETY: the kernel reads one `struct sched_param`, a single int on Linux, from the pointer.
    let set = unsafe {
        libc::syscall(libc::SYS_sched_setscheduler, 0, class.policy, &raw const priority)
    };
    if set < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
