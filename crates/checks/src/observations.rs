//! Judges single observations about a trial or the machine, and adds them to the trial's record.

use assay_model::{CheckRow, Finding, MetricValue, Observation, Subject, TrialRecord};

use crate::catalogue::{catalogue, find, rows};
use crate::check::{finding, note};

/// Metric that assay itself times from outside the program.
const TIMED_BY_ASSAY: &str = "elapsed";
/// Metrics from the kernel's accounting, which do not depend on the program's clock.
const ACCOUNTED: [&str; 3] = ["user", "system", "peak_memory"];

/// Judges one observation; `None` if nothing is wrong. An observation from an outside program that
/// names an unknown check gives `None`: [`find`] returns the known ones.
pub fn judge_observation(observation: &Observation) -> Option<Finding> {
    match observation {
        Observation::Reported { check, message, remedy } => {
            let found = finding(message.clone());
            let own = remedy.is_empty();
            Some(find(check)?.row.finding(if own { found } else { found.remedy(remedy.clone()) }))
        }
        Observation::Unseen { of, what, why } => {
            let found = note(format!("cannot check {what}: {why}")).remedy("");
            Some(row_about(*of).finding(found))
        }
        _ => catalogue().iter().find_map(|check| check.judge_observation(observation)),
    }
}

/// Returns the row of the check that needs a subject which could not be observed.
pub(crate) fn row_about(subject: Subject) -> &'static CheckRow {
    match subject {
        Subject::Cpus => &rows::CPU_RESOURCES,
        Subject::OtherWork => &rows::QUIET_HOST,
        Subject::ClockRate => &rows::CLOCK_AND_HEAT,
        Subject::Stability => &rows::ENVIRONMENT_STABLE,
        Subject::Timer => &rows::TIMER_AND_LENGTH,
    }
}

/// Judges several observations and returns the findings, most severe first.
pub fn judge_observations(observations: &[Observation]) -> Vec<Finding> {
    let mut found: Vec<Finding> = observations.iter().filter_map(judge_observation).collect();
    found.sort_by_key(|f| std::cmp::Reverse(f.severity));
    found
}

/// Adds an observation and its finding to a trial's record. Metric values that the observation
/// makes doubtful get the finding's message as their `doubt`.
pub fn record_observation(record: &mut TrialRecord, observation: Observation) {
    let found = judge_observation(&observation);
    if let Some(found) = &found {
        let doubtful = record.metrics.iter_mut().filter(|m| is_doubtful(m, &observation));
        doubtful.for_each(|m| m.doubt = Some(found.message.clone()));
    }
    record.findings.extend(found);
    record.evidence.push(observation);
}

/// True if an observation for which there is a finding makes this metric value doubtful.
fn is_doubtful(metric_value: &MetricValue, observation: &Observation) -> bool {
    match observation {
        Observation::Stopped => metric_value.name == TIMED_BY_ASSAY,
        Observation::Suspended { .. } => true,
        Observation::ClockStepped { .. } => {
            metric_value.name != TIMED_BY_ASSAY && !ACCOUNTED.contains(&metric_value.name.as_str())
        }
        Observation::GuestMachine { .. } => !metric_value.counted,
        Observation::Probed { metric, .. }
        | Observation::OthersComputed { metric, .. }
        | Observation::ColdStart { metric, .. } => metric_value.name == *metric,
        _ => false,
    }
}
