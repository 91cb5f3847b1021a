//! Whether a machine is fit to measure on, and what the experiment says to do when it is not.

use std::time::{Duration, Instant};

use assay_checks::BUSY;
use assay_model::{Experiment, Finding, FitnessAction, Observation, Severity, units};
use assay_sut::{Interrupt, Root};

use crate::scratch;

/// How long the run queue is watched before a run; eleven looks tell a busy machine from one that woke up once.
const WINDOW: Duration = Duration::from_millis(50);

/// What was seen of the machines before a run, and what the checks found in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fit {
    /// What was seen.
    pub seen: Vec<Observation>,
    /// What that speaks for.
    pub findings: Vec<Finding>,
}

/// Checks this machine, and waits where the experiment asks for it; `say` reports what for.
///
/// # Errors
/// It is not fit, and the experiment refuses: what speaks against it.
pub(crate) fn check(
    experiment: &Experiment,
    interrupt: Option<&Interrupt>,
    say: &mut dyn FnMut(&str),
) -> Result<Fit, String> {
    let wait = units::duration_of(&experiment.fitness.max_wait).unwrap_or(Duration::ZERO);
    let until = Instant::now() + wait;
    let mut waited = false;
    loop {
        let seen = assay_sut::fitness::look(
            &Root::system(),
            &assay_sut::fitness::Options {
                work_dir: Some(scratch::scratch_root()),
                window: WINDOW,
                ..Default::default()
            },
        );
        let unfit = sentences(&assay_checks::judge_all(&seen));
        let interrupted = interrupt.is_some_and(Interrupt::fired);
        match experiment.fitness.action {
            FitnessAction::Refuse if !unfit.is_empty() => return Err(unfit.join("; ")),
            FitnessAction::Wait if !unfit.is_empty() && Instant::now() < until && !interrupted => {
                if !waited {
                    say(&format!("waiting for the machine: {}", unfit.join("; ")));
                    waited = true;
                }
                std::thread::sleep(Duration::from_secs(1));
            }
            _ => return Ok(Fit { findings: assay_checks::judge_all(&seen), seen }),
        }
    }
}

/// The findings that are more than notes; those about other work on the machine as one, without their limits.
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
