//! What a monitor is: rows of data that say what it samples, and a way to sample it.

use std::io;
use std::path::Path;

use crate::{Recorder, Tree};

/// One quantity that a monitor samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name, unique within the monitor.
    pub name: &'static str,
    /// Its unit's symbol (`%`, `1/s`, `KiB/s`, `ms`, `B`, `W`); `1` for a count.
    pub unit: &'static str,
    /// One sentence: what it says.
    pub help: &'static str,
}

/// Why a monitor cannot see something: a sentence that names the thing and what would help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NotAvailable {
    /// The sentence.
    pub reason: String,
}

impl NotAvailable {
    /// The reason as given.
    pub fn because(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }

    /// The reason for which a file could not be opened or read.
    pub fn file(path: &Path, error: &io::Error) -> Self {
        let path = path.display();
        Self::because(match error.kind() {
            io::ErrorKind::NotFound => format!("{path} is not there"),
            io::ErrorKind::PermissionDenied => {
                format!("{path} may not be read by this user; run as root")
            }
            io::ErrorKind::Unsupported => format!("{path} is switched off in this kernel"),
            _ => format!("{path} could not be read: {error}"),
        })
    }
}

/// What a monitor is, as data. Help, documents and legends are made from these rows.
#[derive(Debug)]
pub struct MonitorSpec {
    /// Its name, as an experiment asks for it.
    pub name: &'static str,
    /// One sentence: what it samples, and from where.
    pub help: &'static str,
    /// What its subjects are (`all`, `cpu0`, ...), as a phrase.
    pub subjects: &'static str,
    /// What it samples of a subject.
    pub fields: &'static [Field],
    /// Opens its files. It fails when there is nothing that it could sample.
    pub open: fn(&Tree) -> Result<Box<dyn Monitor>, NotAvailable>,
}

/// Samples one part of the system. Its files are open from the start, and once it has met all its
/// subjects a sample allocates nothing.
pub trait Monitor: Send {
    /// What it is.
    fn spec(&self) -> &'static MonitorSpec;

    /// Reads the counters and hands `out` one row a field and subject with the time `t_ns`
    /// (`CLOCK_MONOTONIC`, nanoseconds, later at each call). The first call, and the first one that
    /// meets a subject, only takes the base and hands out nothing. A value that could not be had,
    /// such as that of a counter that went backwards, is NaN.
    fn sample(&mut self, t_ns: u64, out: &mut Recorder);

    /// What it could not see so far, and why; a sentence each. Empty if it saw everything.
    fn not_seen(&self) -> Vec<String>;

    /// Its name.
    fn name(&self) -> &'static str {
        self.spec().name
    }

    /// What it samples of a subject.
    fn fields(&self) -> &'static [Field] {
        self.spec().fields
    }
}
