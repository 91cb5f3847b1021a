//! The last step of a history, a gate and a bisection: finds the functions that made the
//! difference. Both revisions run again in blocks, profiled. These trials are a run of their own,
//! which no series, verdict or search reads.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use assay_archive::{Archive, Search};
use assay_lab::{Lab, Watcher as _, series};
use assay_model::{Engine, RunId, RunState};
use assay_observe::profile::profile_ability;
use assay_stats::series::Functions;

use super::experiment;
use crate::arguments::ExperimentArgs;
use crate::commands::gate::args::Profiling;
use crate::progress::Bar;

/// Minimum number of blocks: fewer have no interval.
const LEAST: u32 = 3;
/// Time of a trial with its preparation, as a multiple of the program's time.
const AROUND: f64 = 1.3;

/// Two revisions to profile.
pub struct ComparedRevisions<'a> {
    /// Arguments that describe the experiment.
    pub what: &'a ExperimentArgs,
    /// Condition for profiling at all.
    pub when: Profiling,
    /// The two revisions, as levels of the factor.
    pub before: &'a str,
    pub after: &'a str,
    /// Tag by which an earlier run with the same answer is found, so that nobody waits for it
    /// twice; `None` always makes a new run.
    pub tag: Option<String>,
    /// Time left in the budget.
    pub left: Duration,
    /// A run of both revisions, whose trials tell how long a trial takes.
    pub like: &'a RunId,
}

/// Profiles both sides; returns `None` if that is not wanted. If the functions remain unknown, the
/// result holds the reason.
pub fn between(
    asked: &ComparedRevisions<'_>,
    archive: &Archive,
    lab: &Lab<'_>,
    bar: &mut Bar,
) -> Result<Option<Functions>> {
    if asked.when == Profiling::Never {
        return Ok(None);
    }
    if let Some(known) = known(asked, archive)? {
        return Ok(Some(known));
    }
    let mut what = asked.what.clone();
    what.rev = vec![asked.before.to_owned(), asked.after.to_owned()];
    what.tracers = Some(series::PROFILES_BY.into());
    what.monitors = Some("none".into());
    what.tag.extend(asked.tag.clone());
    what.builds = what.builds.map(|_| 1);
    (what.blocks, what.until_clear, what.gate, what.confidence) =
        (Some(series::PROFILED_BLOCKS), false, false, None);
    let mut prepared = experiment::prepare(&what, &lab.kits)?;
    if prepared.experiment.place.engine == Engine::Local
        && let Err(why) = profile_ability(Path::new("/"))
    {
        return Ok(Some(without(asked, format!("programs cannot be profiled here: {why}"))));
    }
    if asked.when == Profiling::Auto {
        let fit = fit(archive, asked)?;
        if fit < LEAST {
            let why = "the budget left no time for profiling; --profile always ignores it";
            return Ok(Some(without(asked, why.to_owned())));
        }
        what.blocks = Some(fit.min(series::PROFILED_BLOCKS));
        what.max_time = Some(format!("{} s", asked.left.as_secs().max(1)));
        prepared = experiment::prepare(&what, &lab.kits)?;
    }
    bar.say("profiling both sides, to name the functions that differ");
    let ended = lab.run(&prepared, bar)?;
    if ended.state == RunState::Interrupted {
        let why = "the run that profiles both sides was interrupted".to_owned();
        return Ok(Some(Functions { run: Some(ended.id), ..without(asked, why) }));
    }
    Ok(Some(read(archive, &ended.id, asked)?))
}

fn without(asked: &ComparedRevisions<'_>, why: String) -> Functions {
    series::unexplained(asked.before, asked.after, why)
}

fn read(archive: &Archive, id: &RunId, asked: &ComparedRevisions<'_>) -> Result<Functions> {
    Ok(series::functions(archive, id, asked.before, asked.after)?)
}

/// Returns the number of blocks of two trials that fit into the time left.
fn fit(archive: &Archive, asked: &ComparedRevisions<'_>) -> Result<u32> {
    let records = archive.run(asked.like)?.records()?;
    let lasted: Vec<f64> = records
        .iter()
        .filter(|r| r.counts())
        .map(|r| r.end_ns.saturating_sub(r.start_ns) as f64 / 1e9)
        .collect();
    let mean = lasted.iter().sum::<f64>() / lasted.len().max(1) as f64;
    let fit = asked.left.as_secs_f64() / (2.0 * AROUND * mean.max(0.01));
    Ok(fit.min(1e6) as u32)
}

/// Returns the result of an earlier run with the same tag and revisions.
fn known(asked: &ComparedRevisions<'_>, archive: &Archive) -> Result<Option<Functions>> {
    let Some(tag) = &asked.tag else { return Ok(None) };
    let mut runs = archive.list(&Search { tag: Some(tag.clone()), ..Search::default() })?;
    runs.sort_by(|a, b| b.started_at.cmp(&a.started_at));
    for run in runs.iter().filter(|r| r.state == RunState::Completed) {
        let plan = archive.run(&run.id)?.plan()?;
        if series::sides(&plan).is_some_and(|sides| sides == [asked.before, asked.after]) {
            let read = read(archive, &run.id, asked)?;
            if read.differences.is_some() {
                return Ok(Some(read));
            }
        }
    }
    Ok(None)
}
