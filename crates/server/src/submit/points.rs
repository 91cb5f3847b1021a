//! Histories on a server: reads them, and turns points to measure, confirmations and profiles of
//! changes into jobs.

use std::sync::Arc;

use assay_lab::series::{self, RunPurpose, StoredFindings};
use assay_lab::{LabError, PreparedExperiment, REV};
use assay_model::{Engine, Experiment, FactorLevels, RunId, RunState};
use assay_observe::profile::profile_ability;
use assay_report::history::short;
use assay_stats::series::{
    ChangeState, ChangeView, Functions, HistoryData, HistoryView, ImportedSeries, SeriesView,
    analysis, commits,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::App;
use crate::error::{Refusal, Result};
use crate::queue::job::Job;
use crate::queue::store::NewJob;
use crate::submit::folders::{self, ExperimentFile};
use crate::submit::overrides::{apply_overrides, prepare};
use crate::submit::submission::Submission;

/// Acknowledgement of a change, with a person's note.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Acknowledgement {
    /// Full hash of the commit.
    pub commit: String,
    #[serde(default)]
    pub note: String,
    /// Link to more information: `https://...`.
    #[serde(default)]
    pub link: String,
}

/// Commit at which a history starts afresh.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HistoryReset {
    /// Full hash of a commit that was measured.
    pub commit: String,
    /// True to take an earlier start at this commit back.
    #[serde(default)]
    pub undo: bool,
}

/// Maximum duration of a confirmation, and of the profile of a change.
const BUDGET: &str = "10 min";

/// Returns the revision that an experiment's file names as the reference.
fn reference_in_file(listed: &ExperimentFile) -> Option<String> {
    let experiment = listed.experiment.as_ref().ok()?;
    if let Some(name) = experiment.compare.baseline.get(REV) {
        return Some(name.to_text());
    }
    match experiment.factors.get(REV)? {
        FactorLevels::List(levels) => {
            levels.first().map(|l| l.value().to_text()).filter(|name| !name.contains(".."))
        }
        FactorLevels::Range { .. } => None,
    }
}

/// Prepares the experiment for a point of a history: `rev` against `reference`. With an empty `id`
/// the experiment does not get the tag of the history.
fn prepared(
    app: &App,
    listed: &ExperimentFile,
    asked: &Submission,
    id: &str,
    reference: &str,
    rev: &str,
) -> Result<PreparedExperiment> {
    prepare(app, listed, &|experiment| {
        apply_overrides(experiment, asked)?;
        series::point(experiment, id, reference, rev);
        Ok(())
    })
}

fn source_of(listed: &ExperimentFile) -> Result<()> {
    match &listed.experiment {
        Ok(e) if e.source.is_none() => Err(Refusal::bad(format!(
            "`{}` has no [source], so it has no revisions; docs/track/revisions.md shows how",
            listed.id
        ))),
        _ => Ok(()),
    }
}

/// Returns the reference commit for the points of a submission: the one that it names, else the one
/// of its history, else the one that the experiment's file names.
fn reference(app: &App, found: &ExperimentFile, asked: &Submission) -> Result<String> {
    let rev = asked.rev.as_deref().unwrap_or_default().trim();
    source_of(found)?;
    let alone = prepared(app, found, asked, "", rev, rev)?;
    let source = alone.experiment.source.clone().unwrap_or_default();
    let repo = assay_system::revisions::Repository::open(std::path::Path::new(&source.repo))
        .map_err(LabError::from)?;
    let kept = StoredFindings::open(
        app.config.archive.path(),
        &series::id_of(app.config.archive.path(), &alone),
    )?;
    let known = kept.known.about.map(|about| about.reference.level);
    let named = asked.reference.clone().filter(|r| !r.trim().is_empty());
    let name = named.or(known).or_else(|| reference_in_file(found));
    let name = name.ok_or_else(|| {
        Refusal::bad(
            "no reference revision: give one (--reference v1.2), or `baseline = { rev = \"v1.2\" \
             }` under [compare]",
        )
    })?;
    Ok(repo.one(name.trim()).map_err(LabError::from)?.level())
}

/// Creates the job that measures one point of a history: a revision in the same blocks as the
/// reference.
///
/// # Errors
/// The revision is the reference, is already measured, or cannot be a point.
pub(crate) fn job(app: &App, file: &ExperimentFile, asked: &Submission) -> Result<NewJob> {
    let rev = asked.rev.as_deref().unwrap_or_default().trim();
    let reference = reference(app, file, asked)?;
    let pair = prepared(app, file, asked, "", &reference, rev)?;
    if let Some(other) = pair.plan.factors.iter().find(|f| *f != REV) {
        return Err(Refusal::bad(format!(
            "a history measures one treatment, but `{other}` is also a factor; set it to one value"
        )));
    }
    if pair.plan.treatments.len() < 2 {
        return Err(Refusal::conflict(format!(
            "{rev} is the reference; there is nothing to measure"
        )));
    }
    let archive = &app.config.archive;
    let id = series::id_of(archive.path(), &pair);
    let defined =
        series::define(archive.path(), &pair, &format!("{reference}..{rev}"), &reference)?;
    let newest = defined.about.revisions.last().cloned().into_iter().collect::<Vec<_>>();
    let past = series::read(archive, &id, &newest, &reference, None)?;
    if past.series.iter().any(|s| !s.points.is_empty()) {
        let label = newest.first().map(|c| c.label.clone()).unwrap_or_default();
        return Err(Refusal::conflict(format!("{rev} is {label}, which is already measured")));
    }
    let mut kept = StoredFindings::open(archive.path(), &id)?;
    let about = defined.widened(kept.known.about.as_ref(), &past.outside)?;
    kept.known.about = Some(about);
    kept.save()?;
    let prepared = prepared(app, file, asked, &id, &reference, rev)?;
    Ok(new_job(prepared, vec![format!("rev={rev}")], asked))
}

/// Creates a job without a start time for a submission.
pub(crate) fn new_job(
    prepared: PreparedExperiment,
    changes: Vec<String>,
    asked: &Submission,
) -> NewJob {
    let job = Job {
        experiment: prepared.experiment.name.clone(),
        title: prepared.experiment.title.trim().to_owned(),
        workload: prepared.plan.workload.name.clone(),
        changes,
        trials: prepared.plan.trials.len() as u64,
        submitted_by: asked.by.trim().to_owned(),
        ..Job::default()
    };
    NewJob { job, toml: prepared.toml, first: asked.first }
}

/// Returns a history of the archive with its points and its stored state.
fn load(app: &App, id: &str) -> Result<(HistoryView, HistoryData, StoredFindings)> {
    let none = || Refusal::not_found(format!("there is no history {id}"));
    if !series::histories(app.config.archive.path()).iter().any(|known| known == id) {
        return Err(none());
    }
    let found = series::show(&app.config.archive, id, None).map_err(|e| Refusal::own(&e))?;
    found.ok_or_else(none)
}

/// Returns a history of the archive, or refuses with 404.
pub(crate) fn history(app: &App, id: &str) -> Result<HistoryView> {
    Ok(load(app, id)?.0)
}

/// Returns all histories of the archive, sorted by experiment, and the number of histories that an
/// earlier version stored without their definition.
pub(crate) fn histories(app: &App) -> Result<(Vec<HistoryView>, usize)> {
    let mut all = Vec::new();
    let mut silent = 0;
    for id in series::histories(app.config.archive.path()) {
        match series::show(&app.config.archive, &id, None).map_err(|e| Refusal::own(&e))? {
            Some((shown, ..)) => all.push(shown),
            None => silent += 1,
        }
    }
    all.sort_by(|a, b| (&a.experiment, &a.metric, &a.id).cmp(&(&b.experiment, &b.metric, &b.id)));
    Ok((all, silent))
}

/// Returns the series imported from other programs, by name.
pub(crate) fn imported(app: &App) -> Vec<(String, ImportedSeries)> {
    series::imported(app.config.archive.path())
}

/// Returns the series that were imported under a name, or refuses with 404.
pub(crate) fn imported_as(app: &App, name: &str) -> Result<ImportedSeries> {
    let found = imported(app).into_iter().find(|(known, _)| known == name);
    let none = || Refusal::not_found(format!("there is no imported series `{name}`"));
    found.map(|(_, series)| series).ok_or_else(none)
}

/// Returns the change that may have happened at this commit. If several classes of machine have
/// one, returns that of the class with the most points.
fn change_at<'s>(shown: &'s HistoryView, commit: &str) -> Result<(&'s SeriesView, &'s ChangeView)> {
    let mut all = shown.series.iter().flat_map(|s| s.changes.iter().map(move |c| (s, c)));
    all.find(|(_, c)| c.commit == commit || c.commits.iter().any(|one| one == commit))
        .ok_or_else(|| Refusal::not_found(format!("the history has no change at {commit}")))
}

/// Creates the job that confirms a change.
pub(crate) fn confirm(app: &Arc<App>, id: &str, commit: &str) -> Result<NewJob> {
    let shown = history(app, id)?;
    let (series, change) = change_at(&shown, commit)?;
    let [before, after] = change.change.sides(&series.points).map(|p| p.commit.as_str());
    // The benchmarks of a suite that changed at the same place share the experiment.
    let at = |s: &&SeriesView| {
        s.changes.iter().any(|c| c.is_undecided() && c.commits.contains(&change.commit))
    };
    let named = shown.series.iter().filter(at).filter_map(|s| s.benchmark.clone());
    let benchmarks: Vec<String> = named.collect();
    let word = format!("confirms the change at {}", short(&change.commit));
    let same = |j: &&Job| !j.state.is_over() && j.changes.contains(&word);
    if let Some(job) = app.queue.lock().all().find(|j| same(j)) {
        return Err(Refusal::conflict(format!("job {} already {word}", job.id)));
    }
    let prepared = fresh_experiment(app, &shown, &|experiment| {
        series::confirmation(experiment, id, before, after, BUDGET, benchmarks.clone());
        let point = shown.series.iter().flat_map(|s| &s.points).find(|p| p.commit == after);
        let run = point.and_then(|p| app.config.archive.run(p.runs.last()?).ok());
        let whole = run.and_then(|run| Some((run.plan().ok()?, run.records().ok()?)));
        if let Some((plan, records)) = whole.filter(|_| !benchmarks.is_empty()) {
            series::narrow(experiment, &plan, &records);
        }
    })?;
    Ok(new_job(prepared, vec![word], &Submission::default()))
}

/// Prepares the experiment of a history, changed by `lay`. Only experiments that may be submitted
/// here are run: an experiment of the folders that has this history, or any with `--allow-any`.
fn fresh_experiment(
    app: &App,
    shown: &HistoryView,
    lay: &dyn Fn(&mut Experiment),
) -> Result<PreparedExperiment> {
    let id = shown.id.as_str();
    let of = |listed: &ExperimentFile| {
        prepare(app, listed, &|experiment| {
            lay(experiment);
            Ok(())
        })
    };
    let named = folders::list(&app.config.folders);
    let with_source =
        named.iter().filter(|l| l.experiment.as_ref().is_ok_and(|e| e.source.is_some()));
    let mut own = with_source.filter_map(|l| of(l).ok());
    match own.find(|p| series::id_of(app.config.archive.path(), p) == id) {
        Some(prepared) => Ok(prepared),
        None if app.config.allow_any => of(&from_archive(app, id)?),
        None => Err(Refusal::forbidden(format!(
            "no experiment of the server's folders measures this history; put its file there, \
            start the server with --allow-any, or confirm it from a shell: `assay history \
            --confirm` ({})",
            shown.experiment
        ))),
    }
}

/// Handles the end of a run of a history. Stores the result of a profile. Returns the job that
/// follows, if any: a confirmed change is profiled next.
pub(crate) fn follow_up(app: &App, run: &RunId) -> Result<Option<NewJob>> {
    let archive = &app.config.archive;
    let summary = archive.run(run)?.summary()?;
    match summary.all_tags().find_map(series::of_tag) {
        Some((id, RunPurpose::Confirmation)) => profile(app, id, run),
        Some((id, RunPurpose::Functions)) => {
            let plan = archive.run(run)?.plan()?;
            if let Some([before, after]) = series::sides(&plan) {
                store_functions(app, id, &series::functions(archive, run, &before, &after)?)?;
            }
            Ok(None)
        }
        _ => Ok(None),
    }
}

/// Calls the hook of an experiment in the server's folders for confirmed changes of the history
/// that a run belongs to. A submitted experiment has no hook. Returns a warning for each failed
/// call.
pub(crate) fn call_hooks(app: &App, run: &RunId) -> Result<Vec<String>> {
    let summary = app.config.archive.run(run)?.summary()?;
    let Some((id, _)) = summary.all_tags().find_map(series::of_tag) else { return Ok(Vec::new()) };
    let (shown, _, mut kept) = load(app, id)?;
    let about = kept.known.about.as_ref();
    let reference = about.map(|a| a.reference.level.clone()).unwrap_or_default();
    let own = fresh_experiment(app, &shown, &|experiment| {
        series::point(experiment, id, &reference, &reference);
    });
    // An experiment of the archive has no hook.
    let Ok(own) = own else { return Ok(Vec::new()) };
    Ok(series::call_hooks(&own.experiment.on, &shown, &mut kept))
}

/// Creates the job that profiles both sides of the change that a run has confirmed, if there is
/// one.
fn profile(app: &App, id: &str, confirmed: &RunId) -> Result<Option<NewJob>> {
    let shown = history(app, id)?;
    // The functions of a suite mean little, because it sizes its own work.
    let single = shown.series.iter().filter(|s| s.benchmark.is_none());
    let mut changes = single.flat_map(|s| s.changes.iter().map(move |c| (s, c)));
    let by_it = |(_, c): &(&SeriesView, &ChangeView)| {
        let known = c.known.as_ref().filter(|k| k.run.as_ref() == Some(confirmed));
        known.is_some_and(|k| {
            k.state == ChangeState::Confirmed
                && k.functions.as_ref().is_none_or(|f| f.differences.is_none())
        })
    };
    let Some((series, change)) = changes.find(by_it) else { return Ok(None) };
    let [before, after] = change.change.sides(&series.points).map(|p| p.commit.as_str());
    let prepared = fresh_experiment(app, &shown, &|experiment| {
        series::profiling(experiment, id, before, after, BUDGET);
    })?;
    if prepared.experiment.place.engine == Engine::Local
        && let Err(why) = profile_ability(std::path::Path::new("/"))
    {
        let why = format!("programs cannot be profiled here: {why}");
        store_functions(app, id, &series::unexplained(before, after, why))?;
        return Ok(None);
    }
    let word = format!("profiles both sides of the change at {}", short(after));
    Ok(Some(new_job(prepared, vec![word], &Submission { first: true, ..Submission::default() })))
}

/// Stores which functions explain a change.
fn store_functions(app: &App, id: &str, functions: &Functions) -> Result<()> {
    let found = series::show(&app.config.archive, id, None).map_err(|e| Refusal::own(&e))?;
    let Some((_, past, mut kept)) = found else { return Ok(()) };
    let range = kept.known.about.as_ref().map(|a| a.revisions.clone()).unwrap_or_default();
    for series in &past.series {
        for change in analysis(series, &kept.known).changes {
            let sides = change.sides(&series.points).map(|p| &p.commit);
            if sides == [&functions.before, &functions.after] {
                let all = commits(&range, &series.points, &change);
                kept.known.explain(series.key(), &all, functions.clone());
            }
        }
    }
    kept.save().map_err(|e| Refusal::own(&e))
}

/// Returns the experiment of a history's newest run.
fn from_archive(app: &App, id: &str) -> Result<ExperimentFile> {
    let archive = &app.config.archive;
    let filter = assay_archive::Search { tag: Some(series::tag(id)), ..Default::default() };
    let runs = archive.list(&filter)?;
    let done = runs.into_iter().filter(|r| r.state != RunState::Started);
    let newest = done.max_by(|a, b| a.started_at.cmp(&b.started_at));
    let newest = newest.ok_or_else(|| Refusal::conflict("the history has no run"))?;
    let text = archive.run(&newest.id)?.experiment_toml()?;
    Ok(ExperimentFile::of_text("experiment.toml", newest.experiment, text))
}

/// Marks a change as acknowledged by a person.
pub(crate) fn acknowledge(app: &App, id: &str, asked: &Acknowledgement) -> Result<HistoryView> {
    let (note, link) = (asked.note.trim(), asked.link.trim());
    if note.len() > 2000 || link.len() > 500 {
        return Err(Refusal::bad("a note can have at most 2000 bytes, a link 500"));
    }
    if !link.is_empty() && !["https://", "http://"].iter().any(|s| link.starts_with(s)) {
        return Err(Refusal::bad(format!("`{link}` is not a link; it must start with https://")));
    }
    let (shown, past, mut kept) = load(app, id)?;
    change_at(&shown, &asked.commit)?;
    let range = kept.known.about.as_ref().map(|a| a.revisions.clone()).unwrap_or_default();
    let some = |text| Some(text).filter(|t: &&str| !t.is_empty());
    kept.known.acknowledge(&range, &past, &asked.commit, some(note), some(link));
    kept.save().map_err(|e| Refusal::own(&e))?;
    history(app, id)
}

/// Starts a history afresh at a commit that was measured, or takes that back.
pub(crate) fn reset(app: &App, id: &str, asked: &HistoryReset) -> Result<HistoryView> {
    let HistoryReset { commit, undo } = asked;
    let (_, past, mut kept) = load(app, id)?;
    if !kept.known.reset(&past, commit, *undo) {
        return Err(Refusal::not_found(if *undo {
            format!("the history does not start afresh at {commit}")
        } else {
            format!("the history has no point at {commit} after its first")
        }));
    }
    kept.save().map_err(|e| Refusal::own(&e))?;
    history(app, id)
}

/// Checks the revisions of a submission. They are allowed without `--allow-any`, because they are
/// commits of the experiment's own repository and cannot name a program.
pub(crate) fn check_revisions(asked: &Submission) -> Result<()> {
    for name in [&asked.rev, &asked.reference].into_iter().flatten() {
        let bad = name.trim().is_empty() || name.len() > 200 || name.contains("..");
        if bad {
            return Err(Refusal::bad(format!(
                "`{name}` is not a single revision: give a commit, a tag or a branch"
            )));
        }
        if name.trim() == "worktree" {
            return Err(Refusal::bad("a history measures commits, not the work tree"));
        }
    }
    if asked.reference.is_some() && asked.rev.is_none() {
        return Err(Refusal::bad("`reference` needs `rev`"));
    }
    Ok(())
}
