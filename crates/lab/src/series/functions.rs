//! Functions that account for the difference between two revisions: the experiment that runs both
//! again under the profiler, and the evaluation of its run. These trials are in a separate run,
//! which no series, verdict or search reads.

use assay_archive::Archive;
use assay_model::{Experiment, Plan, RunId, Scalar, Stop, TrialRecord};
use assay_stats::series::Functions;
use assay_traces::profile::{FILE, ProfileSide, ProfiledTrial, differences};
use assay_traces::typed;

use super::define::of_two;
use super::profile_tag;
use crate::{LabError, REV};

/// Tracer with a high sampling rate: at 99 Hz the sampling error of a program that runs for a
/// second is as large as most differences.
pub const PROFILES_BY: &str = "profile@999";
/// Number of blocks of the profiling run.
pub const PROFILED_BLOCKS: u32 = 10;

/// Turns an experiment with `[source]` into the one that profiles both sides of a change in a
/// history, within the time `budget`.
pub fn profiling(experiment: &mut Experiment, id: &str, before: &str, after: &str, budget: &str) {
    of_two(experiment, before, after);
    experiment.design.blocks = Some(PROFILED_BLOCKS);
    experiment.design.stop = Stop::Fixed;
    experiment.design.max_time = budget.into();
    experiment.observe.tracers = vec![PROFILES_BY.to_owned()];
    experiment.observe.monitors = Vec::new();
    experiment.tags.push(profile_tag(id));
}

/// Returns a result without differences, with the reason `why` they are unknown.
pub fn unexplained(before: &str, after: &str, why: String) -> Functions {
    Functions {
        before: before.to_owned(),
        after: after.to_owned(),
        run: None,
        differences: None,
        why: Some(why),
    }
}

/// Returns the revisions that a run of two compares: the baseline and the other.
pub fn sides(plan: &Plan) -> Option<[String; 2]> {
    let level = |id: u32| plan.treatment(id)?.levels.get(REV).map(Scalar::to_text);
    let other = plan.treatments.iter().find(|t| t.id != plan.baseline)?;
    Some([level(plan.baseline)?, level(other.id)?])
}

/// Computes the differences between functions from a run of both revisions.
///
/// # Errors
/// The run cannot be read.
pub fn functions(
    archive: &Archive,
    run: &RunId,
    before: &str,
    after: &str,
) -> Result<Functions, LabError> {
    let reader = archive.run(run)?;
    let (plan, records) = (reader.plan()?, reader.records()?);
    let experiment = crate::read_experiment("experiment.toml", &reader.experiment_toml()?)?;
    let mut sets = [Vec::new(), Vec::new()];
    for record in records.iter().filter(|r| r.counts()) {
        // A damaged profile is skipped.
        let trace = reader.trace(&FILE, record.number, record.attempt).ok().flatten();
        let Some(profile) = trace.as_deref().and_then(typed) else { continue };
        sets[usize::from(record.treatment != plan.baseline)]
            .push(ProfiledTrial::from_profile(profile, ProfileSide::OnCpu));
    }
    let found = Functions { run: Some(run.clone()), ..unexplained(before, after, String::new()) };
    if sets.iter().any(|set| set.iter().all(|t| t.sampled_ns == 0)) {
        return Ok(Functions { why: Some(why_not(&records)), ..found });
    }
    let [first, second] = sets;
    let differences = differences(&first, &second, experiment.compare.confidence);
    Ok(Functions { differences: Some(differences), why: None, ..found })
}

fn why_not(records: &[TrialRecord]) -> String {
    let mut observers = records.iter().flat_map(|r| &r.observers);
    let own = observers.find(|o| o.observer == FILE.tracer && !o.not_seen.is_empty());
    own.map_or_else(
        || "no trial of a side ran on a CPU for long enough to be sampled".to_owned(),
        |o| format!("no trial of a side was profiled: {}", o.not_seen.join("; ")),
    )
}
