//! What to look at, and what was seen.

use std::path::PathBuf;
use std::time::Duration;

use assay_model::{Observation, Subject};

use crate::CpuTimes;

/// What to look at, and for how long.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The folder that the workload will write to; its file system must have room. Not looked at
    /// when `None`.
    pub work_dir: Option<PathBuf>,
    /// Steal is taken from this reading to now; when `None`, over `window`.
    pub since: Option<CpuTimes>,
    /// How long the run queue and the throttle counters are watched. The check takes this long.
    pub window: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options { work_dir: None, since: None, window: Duration::from_millis(100) }
    }
}

/// What was seen so far.
pub(super) struct Seen(pub(super) Vec<Observation>);

impl Seen {
    pub(super) fn add(&mut self, seen: Observation) {
        self.0.push(seen);
    }

    /// Something could not be looked at: known to be unknown.
    pub(super) fn cannot(&mut self, of: Subject, what: &str, why: &str) {
        self.add(Observation::Unseen { of, what: what.to_owned(), why: why.to_owned() });
    }
}
