//! Whether the machine is fit to measure on now: quiet, steady in frequency, with room, with a good
//! clock. What cannot be seen is said, and is never taken for good.

mod frequency;
mod platform;
mod quiet;
mod room;

use std::path::PathBuf;
use std::time::Duration;

use assay_model::{Finding, Severity};

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

/// Looks at the machine and says what speaks against measuring on it now, the most severe first.
/// Empty when nothing does. Ids are those of the catalogue of checks: F07 (CPU resources), F11 (quiet
/// host), F12 (clock and heat), F13 (stable environment), F15 (timer).
pub fn check(root: &Root, options: &Options) -> Vec<Finding> {
    let mut findings = Findings(Vec::new());
    let throttled = frequency::throttle_count(root);
    quiet::check(root, options, &mut findings);
    frequency::check(root, throttled, &mut findings);
    room::check(root, options, &mut findings);
    platform::check(root, &mut findings);
    findings.0.sort_by_key(|f| std::cmp::Reverse(f.severity));
    findings.0
}

/// A check of the catalogue.
#[derive(Clone, Copy)]
struct Check {
    id: &'static str,
    name: &'static str,
}

const CPU_RESOURCES: Check = Check { id: "F07", name: "cpu-resources" };
const QUIET_HOST: Check = Check { id: "F11", name: "quiet-host" };
const CLOCK_AND_HEAT: Check = Check { id: "F12", name: "clock-and-heat" };
const STABLE: Check = Check { id: "F13", name: "environment-stable" };
const TIMER: Check = Check { id: "F15", name: "timer-and-length" };

/// The findings so far.
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, check: Check, severity: Severity, message: String, remedy: &str) {
        self.0.push(Finding {
            id: check.id.to_owned(),
            name: check.name.to_owned(),
            severity,
            message,
            remedy: remedy.to_owned(),
            treatments: Vec::new(),
        });
    }

    fn warn(&mut self, check: Check, message: String, remedy: &str) {
        self.add(check, Severity::Warning, message, remedy);
    }

    fn note(&mut self, check: Check, message: String, remedy: &str) {
        self.add(check, Severity::Note, message, remedy);
    }

    /// Something could not be looked at: known to be unknown.
    fn cannot(&mut self, check: Check, what: &str, reason: &str) {
        self.add(check, Severity::Note, format!("cannot check {what}: {reason}"), "");
    }
}

#[cfg(test)]
mod tests;
