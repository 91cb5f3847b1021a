//! Where the events of a program go: one JSON object a line.
#![allow(unsafe_code)] // File descriptor 3 is handed over by number.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, FromRawFd};

use assay_model::{Better, Event, Kind, WorkloadSpec};
use rustix::fs::OFlags;
use rustix::io::FdFlags;

/// The descriptor of the metrics protocol.
const NUMBER: i32 = 3;

/// The way to the lab.
pub struct Channel {
    out: Box<dyn Write>,
    failed: Option<io::Error>,
}

impl Channel {
    /// Opens the file named by `ASSAY_METRICS`; else takes file descriptor 3 if it is open for
    /// writing; else standard output. To be called once in a process.
    ///
    /// # Errors
    /// The named file cannot be opened.
    pub fn open() -> io::Result<Self> {
        let out: Box<dyn Write> = match std::env::var_os("ASSAY_METRICS") {
            Some(path) => Box::new(File::options().create(true).append(true).open(path)?),
            None => match adopt() {
                Some(file) => Box::new(file),
                None => Box::new(io::stdout()),
            },
        };
        Ok(Channel::to(out))
    }

    /// A channel to any writer.
    pub fn to(out: Box<dyn Write>) -> Self {
        Channel { out, failed: None }
    }

    /// Sends an event at once. After a failure nothing more is sent, and [`Channel::close`] tells.
    pub fn send(&mut self, event: &Event) {
        if self.failed.is_none() {
            let line = event.to_line() + "\n";
            let sent = self.out.write_all(line.as_bytes()).and_then(|()| self.out.flush());
            self.failed = sent.err();
        }
    }

    /// Sends a metric as its row in the workload's data describes it; what is no number is missing.
    pub(crate) fn metric(&mut self, spec: &WorkloadSpec, name: &str, value: Option<f64>) {
        let row = spec.metric(name);
        self.send(&Event::Metric {
            metric: name.to_owned(),
            value: value.filter(|v| v.is_finite()),
            unit: row.map(|m| m.unit.clone()).unwrap_or_default(),
            better: Some(row.map_or(Better::Neither, |m| m.better)),
            kind: Some(row.map_or(Kind::Measured, |m| m.kind)),
            counted: row.is_some_and(|m| m.counted),
        });
    }

    /// Says whether the trial is valid: `well` when nothing is `wrong`, else the first three of what is.
    pub(crate) fn verdict(&mut self, wrong: &[String], well: String) {
        let detail = match wrong.len() {
            0 => well,
            n if n <= 3 => wrong.join("; "),
            n => format!("{}; and {} more", wrong[..3].join("; "), n - 3),
        };
        self.send(&Event::Valid { valid: wrong.is_empty(), detail });
    }

    /// Ends the channel.
    ///
    /// # Errors
    /// The first failure of sending.
    pub fn close(self) -> io::Result<()> {
        self.failed.map_or(Ok(()), Err)
    }
}

/// File descriptor 3, if it is open for writing; it is not passed on to processes started later.
fn adopt() -> Option<File> {
    // SAFETY: the descriptor is only asked about here; a number that is not open is answered EBADF.
    let descriptor = unsafe { BorrowedFd::borrow_raw(NUMBER) };
    let flags = rustix::fs::fcntl_getfl(descriptor).ok()?;
    if !flags.intersects(OFlags::WRONLY | OFlags::RDWR) {
        return None;
    }
    rustix::io::fcntl_setfd(descriptor, FdFlags::CLOEXEC).ok()?;
    // SAFETY: it is open, and by the protocol it was handed to this program for its events, so nothing
    // else in this process owns it; `Channel::open` is called once, at the start.
    Some(unsafe { File::from_raw_fd(NUMBER) })
}
