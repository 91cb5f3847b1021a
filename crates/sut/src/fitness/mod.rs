//! Whether the machine is fit to measure on now: quiet, steady in frequency, with room, with a good
//! clock. What cannot be seen is said, and is never taken for good.

mod frequency;
mod platform;
mod quiet;
mod room;

use std::path::PathBuf;
use std::time::Duration;

use assay_model::{Observation, Subject};

use crate::{CpuTimes, Root};

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

/// Looks at the machine: what speaks for or against measuring on it now. What it means is judged by the
/// catalogue of checks.
pub fn look(root: &Root, options: &Options) -> Vec<Observation> {
    let mut seen = Seen(Vec::new());
    let throttled = throttle_count(root);
    quiet::look(root, options, &mut seen);
    frequency::look(root, throttled, &mut seen);
    room::look(root, options, &mut seen);
    platform::look(root, &mut seen);
    seen.0
}

/// What was seen so far.
struct Seen(Vec<Observation>);

impl Seen {
    fn add(&mut self, seen: Observation) {
        self.0.push(seen);
    }

    /// Something could not be looked at: known to be unknown.
    fn cannot(&mut self, of: Subject, what: &str, why: &str) {
        self.add(Observation::Unseen { of, what: what.to_owned(), why: why.to_owned() });
    }
}

pub use frequency::{frequency_hz, throttle_count};

#[cfg(test)]
mod tests;
