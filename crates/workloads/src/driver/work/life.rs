//! Watches for the end of the lab: if the lab is killed, its trial ends too, and so do the
//! processes that the trial started.
//!
//! The watch uses a pidfd of the lab, not a parent-death signal, because that is sent when the
//! *thread* of the lab ends that started the trial.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_system::Interrupt;
use assay_system::process::container::inside::CONTAINED_BY;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, getpid, getppid, kill_process, pidfd_open};

/// Time for a trial without a lab to stop the processes that it started.
const GRACE: Duration = Duration::from_secs(5);

/// State of the lab's process.
enum Lab {
    /// There is no lab: the trial was started by hand.
    Nobody,
    /// The lab runs; the descriptor becomes readable when it ends.
    Alive(OwnedFd),
    /// The lab has ended already.
    Gone,
}

/// Opens the lab's process; 0: no process. In a container it is the process that ends with the lab.
fn open(lab: u32) -> io::Result<Lab> {
    match (open_process(lab)?, std::env::var(CONTAINED_BY)) {
        (Lab::Gone, Ok(here)) => open_process(here.parse().unwrap_or(lab)),
        (found, _) => Ok(found),
    }
}

fn open_process(lab: u32) -> io::Result<Lab> {
    if lab == 0 {
        return Ok(Lab::Nobody);
    }
    let Some(pid) = i32::try_from(lab).ok().and_then(Pid::from_raw) else { return Ok(Lab::Gone) };
    let fd = match pidfd_open(pid, PidfdFlags::empty()) {
        Err(rustix::io::Errno::SRCH) => return Ok(Lab::Gone),
        other => other?,
    };
    // The id may have been reused, unless it is still the parent's.
    Ok(if getppid() == Some(pid) { Lab::Alive(fd) } else { Lab::Gone })
}

/// Returns a flag that is set by the first signal to end or by the end of the lab (the process
/// `lab`; 0: none), so that started processes are stopped in order. A trial that does not stop
/// within [`GRACE`] after the end of the lab is killed, together with its processes. `None`: the
/// lab has ended already.
///
/// # Errors
/// Fails if the watch cannot be set up or this kernel has no pidfds.
pub(crate) fn stop_flag(lab: u32) -> io::Result<Option<Arc<AtomicBool>>> {
    let lab = match open(lab)? {
        Lab::Gone => return Ok(None),
        Lab::Nobody => None,
        Lab::Alive(fd) => Some(fd),
    };
    let interrupt = Interrupt::install()?;
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let wait = move || {
        let orphan = until(&interrupt, lab.as_ref());
        flag.store(true, Ordering::Release);
        if orphan {
            std::thread::sleep(GRACE);
            // Cannot fail for the own process.
            let _ = kill_process(getpid(), Signal::KILL);
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait)?;
    Ok(Some(stop))
}

/// Makes this process end at once when the lab does; processes that it started must be bound to it.
/// Returns `false` if the lab has ended already.
///
/// # Errors
/// Fails if the watch cannot be set up or this kernel has no pidfds.
pub(crate) fn die_with(lab: u32) -> io::Result<bool> {
    let fd = match open(lab)? {
        Lab::Gone => return Ok(false),
        Lab::Nobody => return Ok(true),
        Lab::Alive(fd) => fd,
    };
    let wait = move || {
        let mut fds = [PollFd::new(&fd, PollFlags::IN)];
        while poll(&mut fds, None) == Err(rustix::io::Errno::INTR) {}
        // Cannot fail for the own process.
        let _ = kill_process(getpid(), Signal::KILL);
    };
    std::thread::Builder::new().name("lab".into()).spawn(wait)?;
    Ok(true)
}

/// Waits for a signal or for the lab's end; returns true for the latter.
fn until(interrupt: &Interrupt, lab: Option<&OwnedFd>) -> bool {
    let signal = || PollFd::from_borrowed_fd(interrupt.as_fd(), PollFlags::IN);
    let mut fds: Vec<PollFd<'_>> =
        std::iter::once(signal()).chain(lab.map(|fd| PollFd::new(fd, PollFlags::IN))).collect();
    loop {
        if interrupt.fired() {
            return false;
        }
        match poll(&mut fds, None) {
            Err(rustix::io::Errno::INTR) => {}
            // If the watch fails, the trial must not continue without it.
            Err(_) => return true,
            Ok(_) if fds.get(1).is_some_and(|fd| !fd.revents().is_empty()) => return true,
            Ok(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_end_of_a_process_is_seen_and_that_of_a_thread_is_not() {
        let started = || {
            let mut command = Command::new("sleep");
            command.arg("600").stdout(Stdio::null()).spawn().unwrap()
        };
        // The thread that started it ends at once.
        let mut lab = std::thread::spawn(started).join().unwrap();
        let fd = pidfd_open(Pid::from_child(&lab), PidfdFlags::empty()).unwrap();
        let mut fds = [PollFd::new(&fd, PollFlags::IN)];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        assert_eq!(poll(&mut fds, Some(&now)), Ok(0));
        let watch = Interrupt::manual().unwrap();
        lab.kill().unwrap();
        assert!(until(&watch, Some(&fd)));
        lab.wait().unwrap();
        watch.fire();
        assert!(!until(&watch, None));
    }

    #[test]
    fn a_lab_that_is_gone_or_not_the_parent_starts_nothing() {
        assert!(matches!(open(0).unwrap(), Lab::Nobody));
        let own = open(std::process::id()).unwrap();
        assert!(matches!(own, Lab::Gone), "it is not its own parent");
        let parent = getppid().unwrap().as_raw_nonzero().get() as u32;
        assert!(matches!(open(parent).unwrap(), Lab::Alive(_)));
        let mut child = Command::new("true").spawn().unwrap();
        let gone = child.id();
        child.wait().unwrap();
        assert!(matches!(open(gone).unwrap(), Lab::Gone));
    }
}
