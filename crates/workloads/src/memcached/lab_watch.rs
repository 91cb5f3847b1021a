//! The watch for the end of the lab: a lab that is killed takes its trial with it, and the trial its server.
//! A file descriptor of the lab's process tells its end, not a signal of the parent's death, which comes
//! when the lab's *thread* that started the trial ends.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_sut::Interrupt;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, getpid, getppid, kill_process, pidfd_open};

use super::failure::Failure;
use super::order::Order;

/// How long a trial without a lab may take to stop its server.
const GRACE: Duration = Duration::from_secs(5);

/// Opens the lab's process; `None` when there is none to watch.
///
/// # Errors
/// It has ended already, or this kernel has no file descriptors of processes.
fn open(order: &Order) -> Result<Option<OwnedFd>, Failure> {
    if order.lab == 0 {
        return Ok(None);
    }
    let pid = i32::try_from(order.lab).ok().and_then(Pid::from_raw).ok_or(Failure::Stopped)?;
    let fd = match pidfd_open(pid, PidfdFlags::empty()) {
        Err(rustix::io::Errno::SRCH) => return Err(Failure::Stopped),
        other => other.map_err(|e| Failure::Start {
            program: "the watch for the lab's end".into(),
            source: e.into(),
        })?,
    };
    // Its id may be somebody else's by now; the parent's is not while it lives.
    if getppid() == Some(pid) { Ok(Some(fd)) } else { Err(Failure::Stopped) }
}

/// A flag that is set by the first signal to end, and by the end of the lab, so that the server is
/// stopped in order. A trial that does not stop then is killed, and its server with it.
///
/// # Errors
/// The lab has ended already, or the watch cannot be had.
pub fn stop_flag(order: &Order) -> Result<Arc<AtomicBool>, Failure> {
    let failed = |source| Failure::Start { program: "the watch for signals".into(), source };
    let lab = open(order)?;
    let interrupt = Interrupt::install().map_err(failed)?;
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
    std::thread::Builder::new().name("signals".into()).spawn(wait).map_err(failed)?;
    Ok(stop)
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

    fn order(lab: u32) -> Order {
        let params = std::collections::BTreeMap::new();
        Order { params, cpus: vec![], dir: "/".into(), lab, rates: vec![] }
    }

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
        assert!(open(&order(0)).unwrap().is_none());
        assert!(open(&order(std::process::id())).is_err(), "it is not its own parent");
        let parent = getppid().unwrap().as_raw_nonzero().get() as u32;
        assert!(open(&order(parent)).unwrap().is_some());
        let mut child = Command::new("true").spawn().unwrap();
        let gone = child.id();
        child.wait().unwrap();
        assert!(open(&order(gone)).is_err());
    }
}
