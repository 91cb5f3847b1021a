//! Destination of a program's events: one JSON object per line.
#![allow(unsafe_code)] // File descriptor 3 is passed by number.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, FromRawFd};

use assay_model::{Better, Event, MetricKind, Observation, Phase, WorkloadSpec};
use rustix::fs::OFlags;
use rustix::io::FdFlags;

/// File descriptor of the metrics protocol.
const NUMBER: i32 = 3;

/// A curve that a program reports.
pub(crate) struct Curve<'a> {
    pub name: &'a str,
    pub unit: &'static str,
    /// Quantity on the horizontal axis, and its unit.
    pub x_name: &'static str,
    pub x_unit: &'static str,
    pub kind: Option<MetricKind>,
}

impl<'a> Curve<'a> {
    /// Creates a curve of measured values.
    pub const fn measured(
        (name, unit): (&'a str, &'static str),
        (x_name, x_unit): (&'static str, &'static str),
    ) -> Self {
        Curve { name, unit, x_name, x_unit, kind: Some(MetricKind::Measured) }
    }
}

/// The connection to the lab, to which events are sent.
pub struct Channel {
    out: Box<dyn Write>,
    failed: Option<io::Error>,
}

impl Channel {
    /// Opens the file in `ASSAY_METRICS`, else file descriptor 3 if it is open for writing, else
    /// standard output. Must be called only once in a process.
    ///
    /// # Errors
    /// Fails if the file in `ASSAY_METRICS` cannot be opened.
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

    /// Creates a channel to any writer.
    pub fn to(out: Box<dyn Write>) -> Self {
        Channel { out, failed: None }
    }

    /// Sends an event immediately. After a failure no more events are sent, and [`Channel::close`]
    /// returns the error.
    pub fn send(&mut self, event: &Event) {
        if self.failed.is_none() {
            let line = event.to_line() + "\n";
            let sent = self.out.write_all(line.as_bytes()).and_then(|()| self.out.flush());
            self.failed = sent.err();
        }
    }

    /// Sends the start of a phase at the time `t_ns` of `CLOCK_MONOTONIC`; `None`: now.
    pub(crate) fn phase(&mut self, phase: Phase, t_ns: Option<u64>) {
        self.send(&Event::Phase { phase, t_ns });
    }

    /// Sends a note for the record.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.send(&Event::Note { note: note.into() });
    }

    /// Sends notes for the record.
    pub(crate) fn notes(&mut self, notes: impl IntoIterator<Item = impl Into<String>>) {
        notes.into_iter().for_each(|note| self.note(note));
    }

    /// Reports whether the results of the trial are correct, with the reason.
    pub(crate) fn valid(&mut self, valid: bool, detail: impl Into<String>) {
        self.send(&Event::Valid { valid, detail: detail.into() });
    }

    /// Sends one value of a series over time.
    pub(crate) fn sample(&mut self, name: &str, t_ns: u64, value: Option<f64>, unit: &str) {
        self.send(&Event::Sample { sample: name.into(), t_ns, value, unit: unit.into() });
    }

    /// Sends the share of the work that is done, 0 to 1.
    pub(crate) fn progress(&mut self, progress: f64) {
        self.send(&Event::Progress { progress });
    }

    /// Sends an observation for the checks to judge.
    pub(crate) fn evidence(&mut self, evidence: Observation) {
        self.send(&Event::Evidence { evidence });
    }

    /// Sends metrics with the attributes from the workload's specification; a value that is not
    /// finite is missing.
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
                kind: Some(row.map_or(MetricKind::Measured, |m| m.kind)),
                counted: row.is_some_and(|m| m.counted),
            });
        }
    }

    /// Sends points of a curve, each as `[x, value]`.
    pub(crate) fn points(&mut self, curve: &Curve<'_>, points: impl IntoIterator<Item = [f64; 2]>) {
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

    /// Reports whether the trial is valid: `well` if `wrong` is empty, else its first three
    /// entries.
    pub(crate) fn verdict(&mut self, wrong: &[String], well: String) {
        let detail = match wrong.len() {
            0 => well,
            n if n <= 3 => wrong.join("; "),
            n => format!("{}; and {} more", wrong[..3].join("; "), n - 3),
        };
        self.valid(wrong.is_empty(), detail);
    }

    /// Closes the channel and reports a failure.
    ///
    /// # Errors
    /// Returns the first failure of sending.
    pub fn close(self) -> io::Result<()> {
        self.failed.map_or(Ok(()), Err)
    }
}

/// Takes file descriptor 3 if it is open for writing, and sets its close-on-exec flag.
fn adopt() -> Option<File> {
    // SAFETY: the descriptor is only queried here; for a number that is not open the kernel returns
    // EBADF.
    let descriptor = unsafe { BorrowedFd::borrow_raw(NUMBER) };
    let flags = rustix::fs::fcntl_getfl(descriptor).ok()?;
    if !flags.intersects(OFlags::WRONLY | OFlags::RDWR) {
        return None;
    }
    rustix::io::fcntl_setfd(descriptor, FdFlags::CLOEXEC).ok()?;
    // SAFETY: it is open, and by the protocol it was passed to this program for its events, so
    // nothing else in this process owns it; `Channel::open` is called once, at the start.
    Some(unsafe { File::from_raw_fd(NUMBER) })
}
