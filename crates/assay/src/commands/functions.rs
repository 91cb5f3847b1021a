//! The last step of a history, a gate and a bisection: which functions made the difference. Both revisions are run
//! again in blocks, profiled. These trials are a run of their own, which no series, verdict or search reads.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use assay_archive::{Archive, Filter};
use assay_history::Functions;
use assay_lab::{Lab, REV, Watcher as _};
use assay_model::{Engine, Plan, RunId, RunState, Scalar};
use assay_observe::profile::profile_ability;
use assay_profile::{Measured, Side, differences};

use super::experiment;
use crate::cli::{Profiling, What};
use crate::progress::Bar;
use crate::view;

/// Samples often: at 99 Hz the sampling error of a program of a second is as large as most differences.
const TRACER: &str = "profile@999";
/// Blocks of it.
const BLOCKS: u32 = 10;
/// Fewer have no interval.
const LEAST: u32 = 3;
/// What a trial takes beside its program, as a share of it.
const AROUND: f64 = 1.3;

/// What is asked.
pub struct Between<'a> {
    /// The experiment, as it was typed.
    pub what: &'a What,
    /// When it is done at all.
    pub when: Profiling,
    /// The revisions, as levels.
    pub before: &'a str,
    pub after: &'a str,
    /// By which the run is found again, so that nobody waits for it twice; `None`: it is made anew.
    pub tag: Option<String>,
    /// What is left of the budget.
    pub left: Duration,
    /// A run of both: how long its trials took.
    pub like: &'a RunId,
}

/// Profiles both sides; `None`: it was not wanted. Why the functions are not known is in the answer.
pub fn between(
    asked: &Between<'_>,
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
    what.tracers = Some(TRACER.into());
    what.monitors = Some("none".into());
    what.tag.extend(asked.tag.clone());
    (what.blocks, what.until_clear, what.gate, what.confidence) =
        (Some(BLOCKS), false, false, None);
    let mut prepared = experiment::prepare(&what, &lab.kits)?;
    if prepared.experiment.place.engine == Engine::Local
        && let Err(why) = profile_ability(Path::new("/"))
    {
        return Ok(Some(without(asked, format!("programs cannot be profiled here: {why}"))));
    }
    if asked.when == Profiling::Auto {
        let fit = fit(archive, asked)?;
        if fit < LEAST {
            let why = "no time for it was left in the budget; --profile always takes it";
            return Ok(Some(without(asked, why.to_owned())));
        }
        what.blocks = Some(fit.min(BLOCKS));
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

fn without(asked: &Between<'_>, why: String) -> Functions {
    Functions {
        before: asked.before.to_owned(),
        after: asked.after.to_owned(),
        run: None,
        differences: None,
        why: Some(why),
    }
}

/// How many blocks of two trials fit into what is left.
fn fit(archive: &Archive, asked: &Between<'_>) -> Result<u32> {
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

fn level(plan: &Plan, id: u32) -> Option<String> {
    plan.treatment(id)?.levels.get(REV).map(Scalar::to_text)
}

/// The answer of before.
fn known(asked: &Between<'_>, archive: &Archive) -> Result<Option<Functions>> {
    let Some(tag) = &asked.tag else { return Ok(None) };
    let mut runs = archive.list(&Filter { tag: Some(tag.clone()), ..Filter::default() })?;
    runs.sort_by(|a, b| b.started_at.cmp(&a.started_at));
    for run in runs.iter().filter(|r| r.state == RunState::Completed) {
        let plan = archive.run(&run.id)?.plan()?;
        let levels: Vec<String> =
            plan.treatments.iter().filter_map(|t| level(&plan, t.id)).collect();
        if levels == [asked.before, asked.after] {
            let read = read(archive, &run.id, asked)?;
            if read.differences.is_some() {
                return Ok(Some(read));
            }
        }
    }
    Ok(None)
}

/// What a run of both sides says.
fn read(archive: &Archive, id: &RunId, asked: &Between<'_>) -> Result<Functions> {
    let view = view::load(archive, id)?;
    let measured = |treatment: u32| -> Vec<Measured> {
        let all = view.profiles_of(treatment);
        all.into_iter().map(|p| Measured::of(p, Side::OnCpu)).collect()
    };
    let baseline = view.plan.baseline;
    let other = view.plan.treatments.iter().find(|t| t.id != baseline);
    let (first, second) = (measured(baseline), other.map_or_else(Vec::new, |t| measured(t.id)));
    let seen = |trials: &[Measured]| trials.iter().any(|t| t.sampled_ns > 0);
    if !seen(&first) || !seen(&second) {
        let mut observers = view.records.iter().flat_map(|r| &r.observers);
        let own = observers.find(|o| o.observer == "profile" && !o.not_seen.is_empty());
        let why = own.map_or_else(
            || "no trial of a side ran on a CPU for long enough to be sampled".to_owned(),
            |o| format!("no trial of a side was profiled: {}", o.not_seen.join("; ")),
        );
        return Ok(Functions { run: Some(id.clone()), ..without(asked, why) });
    }
    let found = differences(&first, &second, view.experiment.compare.confidence);
    Ok(Functions {
        before: asked.before.to_owned(),
        after: asked.after.to_owned(),
        run: Some(id.clone()),
        differences: Some(found),
        why: None,
    })
}
