//! Points of histories and confirmations of their changes, as jobs of the queue: what a server may measure of a
//! history, and what it shows of one.

use std::sync::Arc;

use assay_lab::series::{self, For, Kept};
use assay_lab::{LabError, Prepared, REV};
use assay_model::{Engine, Experiment, FactorLevels, RunId, RunState};
use assay_observe::profile::profile_ability;
use assay_report::history::short;
use assay_stats::series::{
    Functions, Imported, Past, Shown, ShownChange, State, analysis, commits,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::App;
use crate::error::Refusal;
use crate::queue::job::Job;
use crate::queue::store::NewJob;
use crate::submit::folders::{self, Listed};
use crate::submit::overrides::{lay_over, prepare};
use crate::submit::submission::Submission;

/// A person's note on a change point.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Acknowledged {
    /// The whole commit.
    pub commit: String,
    #[serde(default)]
    pub note: String,
    /// Where to read more: `https://...`.
    #[serde(default)]
    pub link: String,
}

/// The commit at which a history starts afresh.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Afresh {
    /// The whole commit, one that was measured.
    pub commit: String,
    /// Takes it back.
    #[serde(default)]
    pub undo: bool,
}

/// How long a confirmation goes on at most.
const BUDGET: &str = "10 min";

/// The revision that an experiment's file names as the one to compare with.
fn named(listed: &Listed) -> Option<String> {
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

/// The experiment with its point of two revisions, without a tag.
fn prepared(
    app: &App,
    listed: &Listed,
    asked: &Submission,
    id: &str,
    reference: &str,
    rev: &str,
) -> Result<Prepared, Refusal> {
    prepare(app, listed, &|experiment| {
        lay_over(experiment, asked)?;
        series::point(experiment, id, reference, rev);
        Ok(())
    })
}

fn source_of(listed: &Listed) -> Result<(), Refusal> {
    match &listed.experiment {
        Ok(e) if e.source.is_none() => Err(Refusal::bad(format!(
            "`{}` has no [source], so it has no revisions; docs/track/revisions.md shows how to add one",
            listed.id
        ))),
        _ => Ok(()),
    }
}

/// The commit that points of this submission are measured beside: the one that is asked for, the one of its history,
/// the one that its file names.
fn reference(app: &App, found: &Listed, asked: &Submission) -> Result<String, Refusal> {
    let rev = asked.rev.as_deref().unwrap_or_default().trim();
    source_of(found)?;
    let alone = prepared(app, found, asked, "", rev, rev)?;
    let source = alone.experiment.source.clone().unwrap_or_default();
    let repo = assay_system::revisions::Repository::open(std::path::Path::new(&source.repo))
        .map_err(LabError::from)?;
    let kept =
        Kept::open(app.config.archive.path(), &series::id_of(app.config.archive.path(), &alone))?;
    let known = kept.known.about.map(|about| about.reference.level);
    let name =
        asked.reference.clone().filter(|r| !r.trim().is_empty()).or(known).or_else(|| named(found));
    let name = name.ok_or_else(|| {
        Refusal::bad(
            "no reference revision: name one (--reference v1.2), or `baseline = { rev = \"v1.2\" \
             }` under [compare]",
        )
    })?;
    Ok(repo.one(name.trim()).map_err(LabError::from)?.level())
}

/// Makes a job of one point of a history: a revision beside the reference.
///
/// # Errors
/// The revision is the reference or is measured already, or it cannot be a point.
pub(crate) fn job(app: &App, found: &Listed, asked: &Submission) -> Result<NewJob, Refusal> {
    let rev = asked.rev.as_deref().unwrap_or_default().trim();
    let reference = reference(app, found, asked)?;
    let pair = prepared(app, found, asked, "", &reference, rev)?;
    if let Some(other) = pair.plan.factors.iter().find(|f| *f != REV) {
        return Err(Refusal::bad(format!(
            "a history is of one treatment, and `{other}` is a factor too; fix it"
        )));
    }
    if pair.plan.treatments.len() < 2 {
        return Err(Refusal::conflict(format!(
            "{rev} is the reference itself; nothing to measure"
        )));
    }
    let archive = &app.config.archive;
    let id = series::id_of(archive.path(), &pair);
    let defined =
        series::define(archive.path(), &pair, &format!("{reference}..{rev}"), &reference)?;
    let newest = defined.about.revisions.last().cloned().into_iter().collect::<Vec<_>>();
    let past = series::read(archive, &id, &newest, &reference)?;
    if past.series.iter().any(|s| !s.points.is_empty()) {
        let label = newest.first().map(|c| c.label.clone()).unwrap_or_default();
        return Err(Refusal::conflict(format!("{rev} is {label}, which is measured already")));
    }
    let mut kept = Kept::open(archive.path(), &id)?;
    let about = defined.widened(kept.known.about.as_ref(), &past.outside)?;
    kept.known.about = Some(about);
    kept.save()?;
    let prepared = prepared(app, found, asked, &id, &reference, rev)?;
    Ok(new_job(prepared, vec![format!("rev={rev}")], asked))
}

/// A job without a time, of what is submitted.
pub(crate) fn new_job(prepared: Prepared, changes: Vec<String>, asked: &Submission) -> NewJob {
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

/// A history of the archive with its points and what is kept of it.
fn read(app: &App, id: &str) -> Result<(Shown, Past, Kept), Refusal> {
    let none = || Refusal::not_found(format!("there is no history {id}"));
    if !series::histories(app.config.archive.path()).iter().any(|known| known == id) {
        return Err(none());
    }
    let found = series::show(&app.config.archive, id, None).map_err(|e| Refusal::own(&e))?;
    found.ok_or_else(none)
}

/// A history of the archive.
pub(crate) fn history(app: &App, id: &str) -> Result<Shown, Refusal> {
    Ok(read(app, id)?.0)
}

/// All histories of the archive by experiment, and how many an earlier assay left that say not what they are of.
pub(crate) fn histories(app: &App) -> Result<(Vec<Shown>, usize), Refusal> {
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

/// The series of other programs.
pub(crate) fn imported(app: &App) -> Vec<(String, Imported)> {
    series::imported(app.config.archive.path())
}

/// The series of another program that were imported under a name.
pub(crate) fn imported_as(app: &App, name: &str) -> Result<Imported, Refusal> {
    let found = imported(app).into_iter().find(|(known, _)| known == name);
    let none = || Refusal::not_found(format!("no imported series is called `{name}`"));
    found.map(|(_, series)| series).ok_or_else(none)
}

/// The change that may be at this commit; of the machine with the most points that has one.
fn change_at<'s>(shown: &'s Shown, commit: &str) -> Result<&'s ShownChange, Refusal> {
    let mut all = shown.series.iter().flat_map(|s| &s.changes);
    all.find(|c| c.commit == commit || c.commits.iter().any(|one| one == commit))
        .ok_or_else(|| Refusal::not_found(format!("the history has no change at {commit}")))
}

/// Puts the confirmation of a change into the queue.
pub(crate) fn confirm(app: &Arc<App>, id: &str, commit: &str) -> Result<NewJob, Refusal> {
    let shown = history(app, id)?;
    let change = change_at(&shown, commit)?;
    let word = format!("confirms the change at {}", short(&change.commit));
    let same = |j: &&Job| !j.state.is_over() && j.changes.contains(&word);
    if let Some(job) = app.queue().all().find(|j| same(j)) {
        return Err(Refusal::conflict(format!("job {} {word} already", job.id)));
    }
    let prepared = fresh(app, &shown, &|experiment| {
        series::confirmation(experiment, id, &change.before, &change.commit, BUDGET);
    })?;
    Ok(new_job(prepared, vec![word], &Submission::default()))
}

/// An experiment of a history with something laid over it. Only experiments that may be submitted here are run: one of
/// the folders whose history this is, or any with `--allow-any`.
fn fresh(app: &App, shown: &Shown, lay: &dyn Fn(&mut Experiment)) -> Result<Prepared, Refusal> {
    let id = shown.id.as_str();
    let of = |listed: &Listed| {
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
            "no experiment of the server's folders measures this history; put its file there, start the server with --allow-any, or confirm it from a shell: `assay history --confirm` ({})",
            shown.experiment
        ))),
    }
}

/// A run of a history has ended: what it confirmed is profiled next, and what a profile says is kept. The job that
/// follows, if any.
pub(crate) fn follow_up(app: &App, run: &RunId) -> Result<Option<NewJob>, Refusal> {
    let archive = &app.config.archive;
    let summary = archive.run(run)?.summary()?;
    match summary.all_tags().find_map(series::of_tag) {
        Some((id, For::Confirmation)) => profile(app, id, run),
        Some((id, For::Functions)) => {
            let plan = archive.run(run)?.plan()?;
            if let Some([before, after]) = series::sides(&plan) {
                keep(app, id, &series::functions(archive, run, &before, &after)?)?;
            }
            Ok(None)
        }
        _ => Ok(None),
    }
}

/// The job that profiles both sides of the change that a run has confirmed.
fn profile(app: &App, id: &str, confirmed: &RunId) -> Result<Option<NewJob>, Refusal> {
    let shown = history(app, id)?;
    let mut changes = shown.series.iter().flat_map(|s| &s.changes);
    let by_it = |c: &&ShownChange| {
        let known = c.known.as_ref().filter(|k| k.run.as_ref() == Some(confirmed));
        known.is_some_and(|k| {
            k.state == State::Confirmed
                && k.functions.as_ref().is_none_or(|f| f.differences.is_none())
        })
    };
    let Some(change) = changes.find(by_it) else { return Ok(None) };
    let (before, after) = (change.before.as_str(), change.commit.as_str());
    let prepared = fresh(app, &shown, &|experiment| {
        series::profiling(experiment, id, before, after, BUDGET);
    })?;
    if prepared.experiment.place.engine == Engine::Local
        && let Err(why) = profile_ability(std::path::Path::new("/"))
    {
        let why = format!("programs cannot be profiled here: {why}");
        keep(app, id, &series::unexplained(before, after, why))?;
        return Ok(None);
    }
    let word = format!("profiles both sides of the change at {}", short(after));
    Ok(Some(new_job(prepared, vec![word], &Submission { first: true, ..Submission::default() })))
}

/// Keeps which functions made a change.
fn keep(app: &App, id: &str, functions: &Functions) -> Result<(), Refusal> {
    let found = series::show(&app.config.archive, id, None).map_err(|e| Refusal::own(&e))?;
    let Some((_, past, mut kept)) = found else { return Ok(()) };
    let range = kept.known.about.as_ref().map(|a| a.revisions.clone()).unwrap_or_default();
    for series in &past.series {
        for change in analysis(&series.points, &kept.known).changes {
            let points = &series.points;
            let sides = [&points[change.at - 1].commit, &points[change.at].commit];
            if sides == [&functions.before, &functions.after] {
                let all = commits(&range, points, &change);
                kept.known.explain(&series.machine, &all, functions.clone());
            }
        }
    }
    kept.save().map_err(|e| Refusal::own(&e))
}

/// The experiment of a history's newest run.
fn from_archive(app: &App, id: &str) -> Result<Listed, Refusal> {
    let archive = &app.config.archive;
    let filter = assay_archive::Filter { tag: Some(series::tag(id)), ..Default::default() };
    let runs = archive.list(&filter)?;
    let done = runs.into_iter().filter(|r| r.state != RunState::Started);
    let newest = done.max_by(|a, b| a.started_at.cmp(&b.started_at));
    let newest = newest.ok_or_else(|| Refusal::conflict("the history has no run"))?;
    let text = archive.run(&newest.id)?.experiment_toml()?;
    Ok(Listed::of_text("experiment.toml", newest.experiment, text))
}

/// Marks a change as known to a person.
pub(crate) fn acknowledge(app: &App, id: &str, asked: &Acknowledged) -> Result<Shown, Refusal> {
    let (note, link) = (asked.note.trim(), asked.link.trim());
    if note.len() > 2000 || link.len() > 500 {
        return Err(Refusal::bad("a note has at most 2000 bytes, a link 500"));
    }
    if !link.is_empty() && !["https://", "http://"].iter().any(|s| link.starts_with(s)) {
        return Err(Refusal::bad(format!("`{link}` is no link; it starts with https://")));
    }
    let (shown, past, mut kept) = read(app, id)?;
    change_at(&shown, &asked.commit)?;
    let range = kept.known.about.as_ref().map(|a| a.revisions.clone()).unwrap_or_default();
    let some = |text| Some(text).filter(|t: &&str| !t.is_empty());
    kept.known.acknowledge(&range, &past, &asked.commit, some(note), some(link));
    kept.save().map_err(|e| Refusal::own(&e))?;
    history(app, id)
}

/// Starts a history afresh at a commit that was measured, or takes that back.
pub(crate) fn reset(app: &App, id: &str, asked: &Afresh) -> Result<Shown, Refusal> {
    let Afresh { commit, undo } = asked;
    let (_, past, mut kept) = read(app, id)?;
    if !kept.known.reset(&past, commit, *undo) {
        return Err(Refusal::not_found(if *undo {
            format!("the history does not start afresh at {commit}")
        } else {
            format!("no point of the history after its first is at {commit}")
        }));
    }
    kept.save().map_err(|e| Refusal::own(&e))?;
    history(app, id)
}

/// What is locked in a submission of revisions without `--allow-any`: nothing that names a program; revisions are
/// commits of the experiment's own repository.
pub(crate) fn check_revisions(asked: &Submission) -> Result<(), Refusal> {
    for name in [&asked.rev, &asked.reference].into_iter().flatten() {
        let bad = name.trim().is_empty() || name.len() > 200 || name.contains("..");
        if bad {
            return Err(Refusal::bad(format!(
                "`{name}` is not one revision: a commit, a tag or a branch"
            )));
        }
        if name.trim() == "worktree" {
            return Err(Refusal::bad("a history is of commits, not of a work tree"));
        }
    }
    if asked.reference.is_some() && asked.rev.is_none() {
        return Err(Refusal::bad("`reference` goes with `rev`"));
    }
    Ok(())
}
