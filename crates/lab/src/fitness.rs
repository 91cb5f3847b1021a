//! Checks that a machine is fit to measure on, and acts as the experiment demands if it is not.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use assay_checks::BUSY;
use assay_model::{
    Experiment, Finding, FitnessAction, Observation, Severity, SystemDescription, units,
};
use assay_system::process::guard;
use assay_system::redact::Recorder;
use assay_system::{CpuTimes, Interrupt, Root};

use crate::scratch;

/// Observation time of the run queue before a run. It is extended while the samples show other
/// work, so that a single wake-up does not count as that.
const WINDOW: Duration = Duration::from_millis(8);

/// Observations of the machines before a run, and the findings of the checks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fit {
    pub seen: Vec<Observation>,
    pub findings: Vec<Finding>,
}

/// The machine is not fit to measure on, and the experiment refuses to run then.
#[derive(Debug, thiserror::Error)]
#[error("{}", reasons.join("; "))]
pub struct Unfit {
    pub reasons: Vec<String>,
}

/// Describes this machine, starts the guard by `exe` meanwhile, and checks the machine. Waits until
/// it is fit, at most `max_wait`, if the experiment demands it; `say` reports the reason for
/// waiting.
///
/// # Errors
/// The machine is not fit and the experiment refuses to run then.
pub(crate) fn check(
    experiment: &Experiment,
    recorder: &Recorder,
    interrupt: Option<&Interrupt>,
    exe: &Path,
    say: &mut dyn FnMut(&str),
) -> Result<(Fit, SystemDescription), Unfit> {
    let root = Root::system();
    let wait = units::duration_of(&experiment.fitness.max_wait).unwrap_or(Duration::ZERO);
    let until = Instant::now() + wait;
    let mut waited = false;
    loop {
        let since = CpuTimes::read(&root).ok();
        let system = thread::scope(|scope| {
            // Without the guard, leftover programs are ended at the next start.
            scope.spawn(|| guard::start(exe));
            assay_system::describe(&root, recorder)
        });
        let work_dir = Some(scratch::scratch_root());
        let options = assay_system::fitness::Options { work_dir, since, window: WINDOW };
        let seen = assay_system::fitness::look(&root, &options);
        let unfit = sentences(&assay_checks::judge_observations(&seen));
        let interrupted = interrupt.is_some_and(Interrupt::fired);
        match experiment.fitness.action {
            FitnessAction::Refuse if !unfit.is_empty() => return Err(Unfit { reasons: unfit }),
            FitnessAction::Wait if !unfit.is_empty() && Instant::now() < until && !interrupted => {
                if !waited {
                    say(&format!("waiting for the machine: {}", unfit.join("; ")));
                    waited = true;
                }
                thread::sleep(Duration::from_secs(1));
            }
            _ => {
                let findings = assay_checks::judge_observations(&seen);
                return Ok((Fit { seen, findings }, system));
            }
        }
    }
}

/// Examines this machine now and returns the findings for and against measuring on it.
pub fn examine() -> Vec<Finding> {
    let work_dir = Some(scratch::scratch_root());
    let options = assay_system::fitness::Options { work_dir, ..Default::default() };
    assay_checks::judge_observations(&assay_system::fitness::look(&Root::system(), &options))
}

/// Returns the messages of findings above notes. Those about other work on the machine are merged
/// into one, without their limits.
pub fn sentences(findings: &[Finding]) -> Vec<String> {
    let bad = findings.iter().filter(|f| f.severity > Severity::Note);
    let (busy, mut all): (Vec<String>, Vec<String>) =
        bad.map(|f| f.message.clone()).partition(|message| message.starts_with(BUSY));
    let parts: Vec<&str> =
        busy.iter().filter_map(|m| m.strip_prefix(BUSY)?.split(" (").next()).collect();
    if !parts.is_empty() {
        all.insert(0, format!("{BUSY}{}", parts.join(", ")));
    }
    all
}
