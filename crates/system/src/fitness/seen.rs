//! Options of the checks, and the observations collected so far.

use std::path::PathBuf;
use std::time::Duration;

use assay_model::{Observation, Subject};

use crate::CpuTimes;

/// Options of the fitness checks.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The folder that the workload will write to, whose file system must have room; not checked if
    /// `None`.
    pub work_dir: Option<PathBuf>,
    /// Start of the interval for steal time; `None` measures it over `window`.
    pub since: Option<CpuTimes>,
    /// Duration of the check, during which the run queue and the throttle counters are watched.
    pub window: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options { work_dir: None, since: None, window: Duration::from_millis(100) }
    }
}

/// The observations collected so far.
pub(super) struct FitnessObservations(pub(super) Vec<Observation>);

impl FitnessObservations {
    pub(super) fn add(&mut self, seen: Observation) {
        self.0.push(seen);
    }

    /// Records that a subject could not be checked.
    pub(super) fn cannot(&mut self, of: Subject, what: &str, why: &str) {
        self.add(Observation::Unseen { of, what: what.to_owned(), why: why.to_owned() });
    }
}
