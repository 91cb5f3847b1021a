//! Makes SIGINT, SIGTERM and SIGHUP available to polling loops, as a flag and a file descriptor.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The interrupt that handles the signals of this process.
static INSTALLED: OnceLock<Interrupt> = OnceLock::new();

/// Fires once, at the first of SIGINT, SIGTERM and SIGHUP. A second signal ends assay at once; the
/// journal then restores the settings.
#[derive(Debug, Clone)]
pub struct Interrupt {
    /// True after [`Interrupt::fire`] was called.
    flag: Arc<AtomicBool>,
    /// True after a signal arrived.
    signal: Arc<AtomicBool>,
    wake: Arc<UnixStream>,
    waker: Arc<UnixStream>,
}

impl Interrupt {
    /// Handles those of the three signals that are not ignored (nohup ignores SIGHUP).
    ///
    /// # Errors
    /// If the handlers could not be installed.
    pub fn install() -> io::Result<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let interrupt = Interrupt::manual()?;
        let came = &interrupt.signal;
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = |line: &str| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok();
        let ignored = status.lines().find_map(mask).unwrap_or(0);
        let heard = |signal: &i32| ignored >> (signal - 1) & 1 == 0;
        for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(heard) {
            // In this order: the second signal finds the flag set and has its default effect.
            signal_hook::flag::register_conditional_default(signal, Arc::clone(came))?;
            signal_hook::flag::register(signal, Arc::clone(came))?;
            signal_hook::low_level::pipe::register(signal, interrupt.waker.try_clone()?)?;
        }
        // A second interrupt receives the same signals, so either will do.
        let _ = INSTALLED.set(interrupt.clone());
        Ok(interrupt)
    }

    /// Returns the interrupt that handles the signals of this process, if there is one; for code
    /// that waits far from where it was created.
    pub fn installed() -> Option<&'static Interrupt> {
        INSTALLED.get()
    }

    /// Makes an interrupt that only [`Interrupt::fire`] fires.
    ///
    /// # Errors
    /// If no pair of sockets could be created.
    pub fn manual() -> io::Result<Self> {
        let (wake, waker) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        Ok(Interrupt {
            flag: Arc::new(AtomicBool::new(false)),
            signal: Arc::new(AtomicBool::new(false)),
            wake: Arc::new(wake),
            waker: Arc::new(waker),
        })
    }

    /// True if the interrupt has fired.
    pub fn fired(&self) -> bool {
        self.flag.load(Ordering::Relaxed) || self.signalled()
    }

    /// True if a signal fired it or arrived since then.
    pub fn signalled(&self) -> bool {
        self.signal.load(Ordering::Relaxed)
    }

    pub fn fire(&self) {
        self.flag.store(true, Ordering::Relaxed);
        // A full socket is readable already.
        let _ = (&*self.waker).write(&[1]);
    }

    /// Returns a descriptor that is readable once the interrupt has fired.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Resets the interrupt after [`Interrupt::fire`], for a caller that continues. A signal is not
    /// forgotten.
    pub fn clear(&self) {
        let mut drain = [0; 64];
        while matches!((&*self.wake).read(&mut drain), Ok(n) if n > 0) {}
        self.flag.store(false, Ordering::Relaxed);
        if self.signalled() {
            let _ = (&*self.waker).write(&[1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, poll};

    use super::*;

    #[test]
    fn a_signal_is_not_forgotten_with_what_was_fired_by_hand() {
        let interrupt = Interrupt::manual().unwrap();
        let readable = || {
            let fd = &mut [PollFd::from_borrowed_fd(interrupt.as_fd(), PollFlags::IN)];
            poll(fd, Some(&rustix::time::Timespec::default())).unwrap() == 1
        };
        interrupt.fire();
        assert!(interrupt.fired() && !interrupt.signalled() && readable());
        interrupt.clear();
        assert!(!interrupt.fired() && !readable());
        interrupt.fire();
        interrupt.signal.store(true, Ordering::Relaxed);
        interrupt.clear();
        assert!(interrupt.fired() && interrupt.signalled() && readable());
    }
}
