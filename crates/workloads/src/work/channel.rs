//! Where the events of a program go: one JSON object a line.
#![allow(unsafe_code)] // File descriptor 3 is handed over by number.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, FromRawFd};

use assay_model::{Better, Event, Kind, Observation, Phase, WorkloadSpec};
use rustix::fs::OFlags;
use rustix::io::FdFlags;

/// The descriptor of the metrics protocol.
const NUMBER: i32 = 3;

/// A curve that a program reports.
pub(crate) struct Curve {
    pub name: &'static str,
    pub unit: &'static str,
    /// The quantity that it is over, and its unit.
    pub x_name: &'static str,
    pub x_unit: &'static str,
    pub kind: Option<Kind>,
}

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

    /// Enters a phase, at the moment `t_ns` of `CLOCK_MONOTONIC`; `None`: now.
    pub(crate) fn phase(&mut self, phase: Phase, t_ns: Option<u64>) {
        self.send(&Event::Phase { phase, t_ns });
    }

    /// Sends a sentence for the record.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.send(&Event::Note { note: note.into() });
    }

    /// Sends sentences for the record.
    pub(crate) fn notes(&mut self, notes: impl IntoIterator<Item = impl Into<String>>) {
        notes.into_iter().for_each(|note| self.note(note));
    }

    /// Says whether the trial's work was right, and why.
    pub(crate) fn valid(&mut self, valid: bool, detail: impl Into<String>) {
        self.send(&Event::Valid { valid, detail: detail.into() });
    }

    /// Sends a value at a moment of a series.
    pub(crate) fn sample(&mut self, name: &str, t_ns: u64, value: Option<f64>, unit: &str) {
        self.send(&Event::Sample { sample: name.into(), t_ns, value, unit: unit.into() });
    }

    /// Sends the share of the work that is over.
    pub(crate) fn progress(&mut self, progress: f64) {
        self.send(&Event::Progress { progress });
    }

    /// Sends an observation that checks judge.
    pub(crate) fn evidence(&mut self, evidence: Observation) {
        self.send(&Event::Evidence { evidence });
    }

    /// Sends metrics as their rows in the workload's data describe them; a value that is no number is missing.
    pub(crate) fn metrics<'a>(
        &mut self,
        spec: &WorkloadSpec,
        values: impl IntoIterator<Item = (&'a str, Option<f64>)>,
    ) {
        for (name, value) in values {
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
    }

    /// Sends points of a curve, each its place and its value.
    pub(crate) fn points(&mut self, curve: &Curve, points: impl IntoIterator<Item = [f64; 2]>) {
        for [x, value] in points {
            self.send(&Event::Point {
                curve: curve.name.into(),
                x,
                value,
                x_name: curve.x_name.into(),
                x_unit: curve.x_unit.into(),
                unit: curve.unit.into(),
                kind: curve.kind,
            });
        }
    }

    /// Says whether the trial is valid: `well` when nothing is `wrong`, else the first three of what is.
    pub(crate) fn verdict(&mut self, wrong: &[String], well: String) {
        let detail = match wrong.len() {
            0 => well,
            n if n <= 3 => wrong.join("; "),
            n => format!("{}; and {} more", wrong[..3].join("; "), n - 3),
        };
        self.valid(wrong.is_empty(), detail);
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
