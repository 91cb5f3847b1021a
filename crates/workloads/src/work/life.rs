//! The watch for the end of the lab: a lab that is killed takes its trial with it, and the trial
//! what it started.
//! A file descriptor of the lab's process tells its end, not a signal of the parent's death, which comes
//! when the lab's *thread* that started the trial ends.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_sut::Interrupt;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, getpid, getppid, kill_process, pidfd_open};

/// How long a trial without a lab may take to stop what it started.
const GRACE: Duration = Duration::from_secs(5);

/// What there is of the lab.
enum Lab {
    /// Nobody's: the trial was started by hand.
    Nobody,
    /// It runs; readable when it has ended.
    Alive(OwnedFd),
    /// It has ended already.
    Gone,
}

/// Opens the lab's process; 0: nobody's.
fn open(lab: u32) -> io::Result<Lab> {
    if lab == 0 {
        return Ok(Lab::Nobody);
    }
    let Some(pid) = i32::try_from(lab).ok().and_then(Pid::from_raw) else { return Ok(Lab::Gone) };
    let fd = match pidfd_open(pid, PidfdFlags::empty()) {
        Err(rustix::io::Errno::SRCH) => return Ok(Lab::Gone),
        other => other?,
    };
    // Its id may be somebody else's by now; the parent's is not while it lives.
    Ok(if getppid() == Some(pid) { Lab::Alive(fd) } else { Lab::Gone })
}

/// A flag that is set by the first signal to end, and by the end of the lab (the process `lab`; 0:
/// nobody's), so that what was started is stopped in order. A trial that does not stop then is killed, and
/// what it started with it. `None`: the lab has ended already.
///
/// # Errors
/// The watch cannot be had, or this kernel has no file descriptors of processes.
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
            // It cannot fail: it is this process.
            let _ = kill_process(getpid(), Signal::KILL);
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait)?;
    Ok(Some(stop))
}

/// Makes this process end when the lab does, at once; what it started must be bound to it. `false`: the
/// lab has ended already.
///
/// # Errors
/// The watch cannot be had, or this kernel has no file descriptors of processes.
pub(crate) fn die_with(lab: u32) -> io::Result<bool> {
    let fd = match open(lab)? {
        Lab::Gone => return Ok(false),
        Lab::Nobody => return Ok(true),
        Lab::Alive(fd) => fd,
    };
    let wait = move || {
        let mut fds = [PollFd::new(&fd, PollFlags::IN)];
        while poll(&mut fds, None) == Err(rustix::io::Errno::INTR) {}
        // It cannot fail: it is this process.
        let _ = kill_process(getpid(), Signal::KILL);
    };
    std::thread::Builder::new().name("lab".into()).spawn(wait)?;
    Ok(true)
}

/// Waits for a signal or for the lab's end; whether it was the latter.
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
            // Without a watch the trial must not go on unwatched.
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
