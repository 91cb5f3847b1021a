//! SIGINT, SIGTERM and SIGHUP as something a loop can poll: a flag and a file descriptor.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The one that took over the signals of this process.
static INSTALLED: OnceLock<Interrupt> = OnceLock::new();

/// Fires once, at the first of SIGINT, SIGTERM and SIGHUP. A second signal is left to end assay at
/// once; the journal then puts the system back.
#[derive(Debug, Clone)]
pub struct Interrupt {
    flag: Arc<AtomicBool>,
    wake: Arc<UnixStream>,
    waker: Arc<UnixStream>,
}

impl Interrupt {
    /// Takes over the three signals.
    ///
    /// # Errors
    /// The handlers could not be installed.
    pub fn install() -> io::Result<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let flag = Arc::new(AtomicBool::new(false));
        let (wake, write) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: the second signal finds the flag set and has its default effect.
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag))?;
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
            signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
        }
        let interrupt = Interrupt { flag, wake: Arc::new(wake), waker: Arc::new(write) };
        // A second one hears the same signals; either will do.
        let _ = INSTALLED.set(interrupt.clone());
        Ok(interrupt)
    }

    /// The one that took over the signals of this process, if any did: for what waits far from where it
    /// was made.
    pub fn installed() -> Option<&'static Interrupt> {
        INSTALLED.get()
    }

    /// An interrupt that only [`Interrupt::fire`] fires.
    ///
    /// # Errors
    /// No pair of sockets could be had.
    pub fn manual() -> io::Result<Self> {
        let (wake, waker) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        Ok(Interrupt {
            flag: Arc::new(AtomicBool::new(false)),
            wake: Arc::new(wake),
            waker: Arc::new(waker),
        })
    }

    /// Whether it has fired.
    pub fn fired(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Fires it.
    pub fn fire(&self) {
        self.flag.store(true, Ordering::Relaxed);
        // A full socket means that it is readable already.
        let _ = (&*self.waker).write(&[1]);
    }

    /// Readable once it has fired.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Forgets that it fired, for a caller that goes on.
    pub fn clear(&self) {
        let mut drain = [0; 64];
        while matches!((&*self.wake).read(&mut drain), Ok(n) if n > 0) {}
        self.flag.store(false, Ordering::Relaxed);
    }
}
