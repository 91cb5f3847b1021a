//! The experiments that posts need: finds out which are in the archive, which can run here and how
//! long they take, and runs them.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::Result;
use assay_archive::{Archive, Search};
use assay_lab::{PreparedExperiment, estimate};
use assay_model::nouns::count;
use assay_model::{Experiment, RunId, RunState, units};
use assay_publish::post::LocalOutcome;
use assay_system::process::Output;
use assay_workloads::KitPaths;

use super::PostTemplate;
use crate::commands::open::{kit_paths, open_lab};
use crate::commands::post::find;
use crate::commands::run::take_run_lock;
use crate::exit::Usage;
use crate::progress::Bar;
use crate::screen::say;
use crate::shipped;

/// An experiment that posts need.
pub struct ReproductionJob {
    /// File of the experiment, as the posts name it.
    pub file: String,
    /// Index of each post that needs it, with the post's name for its run.
    pub uses: Vec<(usize, String)>,
    /// Number of claims that it answers.
    pub claims: usize,
    pub state: ExperimentState,
    /// Source of the estimated time.
    pub basis: String,
    expected: Option<Duration>,
    /// Number of planned trials, which orders experiments of unknown time.
    trials: usize,
    prepared: Option<PreparedExperiment>,
}

/// State of an experiment.
pub enum ExperimentState {
    /// The archive has a completed run of it.
    Made(RunId),
    /// A run of it was interrupted, and will be continued.
    Interrupted(RunId),
    Ready,
    /// The experiment cannot run on this machine; the text is the reason.
    Impossible(String),
    /// The experiment did not run, or not to its end; the text is the reason.
    Skipped(String),
    /// The experiment ran and had no result; the text is the reason.
    Failed(String),
}

impl ExperimentState {
    pub fn words(&self) -> String {
        match self {
            ExperimentState::Made(id) => format!("in the archive: run {id}"),
            ExperimentState::Interrupted(id) => format!("continues: run {id} was interrupted"),
            ExperimentState::Ready => "to be run".to_owned(),
            ExperimentState::Impossible(why) => format!("cannot run here: {why}"),
            ExperimentState::Skipped(why) | ExperimentState::Failed(why) => why.clone(),
        }
    }
}

impl ReproductionJob {
    pub fn expected(&self) -> Option<Duration> {
        self.expected
    }

    pub fn run(&self) -> Option<&RunId> {
        match &self.state {
            ExperimentState::Made(id) | ExperimentState::Interrupted(id) => Some(id),
            _ => None,
        }
    }

    /// Describes what the experiment answers, such as `answers 2 claims of 1 post`.
    pub fn answers(&self) -> String {
        let mut posts: Vec<usize> = self.uses.iter().map(|(at, _)| *at).collect();
        posts.dedup();
        format!("answers {} of {}", count(self.claims, "claim"), count(posts.len(), "post"))
    }

    /// Returns the reason why the experiment has no answer, or `None` if it has one.
    pub fn why_not(&self) -> Option<(LocalOutcome, String)> {
        match &self.state {
            ExperimentState::Made(_) => None,
            ExperimentState::Impossible(why) => Some((LocalOutcome::CannotBeAsked, why.clone())),
            ExperimentState::Interrupted(id) => Some((
                LocalOutcome::Undecided,
                format!("run {id} was interrupted; the same command continues"),
            )),
            ExperimentState::Ready => {
                Some((LocalOutcome::Undecided, format!("not run; run `assay run {}`", self.file)))
            }
            ExperimentState::Skipped(why) | ExperimentState::Failed(why) => {
                Some((LocalOutcome::Undecided, why.clone()))
            }
        }
    }
}

/// Returns the experiments of posts, in the order in which they give answers early.
pub fn from_posts(
    posts: &[PostTemplate],
    archive: &Archive,
    kits: &KitPaths,
) -> Result<Vec<ReproductionJob>> {
    let mut jobs: Vec<ReproductionJob> = Vec::new();
    for (at, read) in posts.iter().enumerate() {
        let claims = read.template.claims();
        for (alias, spec) in &read.template.front().runs {
            let answers = claims.iter().filter(|runs| runs.contains(alias)).count();
            if let Some(job) = jobs.iter_mut().find(|job| job.file == spec.experiment) {
                job.uses.push((at, alias.clone()));
                job.claims += answers;
                continue;
            }
            let mut job = ReproductionJob {
                file: spec.experiment.clone(),
                uses: vec![(at, alias.clone())],
                claims: answers,
                state: ExperimentState::Ready,
                basis: String::new(),
                expected: None,
                trials: usize::MAX,
                prepared: None,
            };
            prepare(&mut job, &read.path, archive, kits);
            if let Some(id) = find(archive, spec)? {
                job.state = ExperimentState::Made(id);
            }
            jobs.push(job);
        }
    }
    jobs.sort_by_key(|job| {
        let unanswered = job.claims == 0;
        let seconds = job.expected.map(|e| e.as_secs());
        // Experiments of unknown time come after the others, those with fewer trials first.
        (unanswered, seconds.is_none(), seconds, job.trials)
    });
    Ok(jobs)
}

/// Reads the experiment, and finds out whether it can run here and how long it takes.
fn prepare(job: &mut ReproductionJob, post: &Path, archive: &Archive, kits: &KitPaths) {
    let file = match locate(&job.file, post) {
        Ok(file) => file,
        Err(Usage(why)) => {
            job.state = ExperimentState::Impossible(why);
            return;
        }
    };
    let prepared = match PreparedExperiment::from_file(&file, kits, &|_| Ok(())) {
        Ok(prepared) => prepared,
        Err(e) => {
            // It does not matter which treatment failed first.
            let why = one_line(&e.to_string());
            let bare =
                why.strip_prefix("treatment ").and_then(|rest| Some(rest.split_once(": ")?.1));
            job.state = ExperimentState::Impossible(bare.unwrap_or(&why).to_owned());
            return;
        }
    };
    let experiment = &prepared.experiment;
    let estimated =
        estimate(Some(archive), &experiment.name, &prepared.plan, experiment.compare.confidence);
    (job.expected, job.basis) = match (estimated.total(), described(experiment)) {
        (Some(total), _) => (Some(total), estimated.basis),
        (None, Some(time)) => (Some(time), "from its description".to_owned()),
        (None, None) => (None, estimated.basis),
    };
    job.trials = prepared.plan.trials.len();
    let obstacles = assay_lab::obstacles(&prepared.plan, &assay_system::state_dir());
    // A run needs all of its treatments.
    if let Some(first) = obstacles.first() {
        job.state = ExperimentState::Impossible(one_line(first));
    } else if let Some(id) = interrupted(archive, &experiment.name) {
        job.state = ExperimentState::Interrupted(id);
    }
    job.prepared = Some(prepared);
}

/// Finds the experiment's file: as it is named, relative to the folder of the post or its parent,
/// or in the files that come with assay.
fn locate(named: &str, post: &Path) -> Result<PathBuf, Usage> {
    let folders = post.ancestors().skip(1).take(2);
    let beside = folders.map(|folder| folder.join(named)).find(|path| path.is_file());
    match beside {
        Some(path) => Ok(path),
        None => shipped::find(Path::new(named)),
    }
}

/// Returns the time that the description of an experiment states: `the run takes about 10 min`, `a
/// block takes about 2 min`, `about 5 min on two CPUs`.
fn described(experiment: &Experiment) -> Option<Duration> {
    let text = one_line(&experiment.description);
    let duration = |(at, phrase): (usize, &str)| {
        let (before, after) = (&text[..at], &text[at + phrase.len()..]);
        let words: Vec<&str> = after.split_whitespace().take(4).collect();
        let unit = words.get(1)?.trim_end_matches(['.', ',', ';', ':']);
        let time = units::parse_duration(&format!("{} {unit}", words.first()?)).ok()?;
        let mut before = before.split_whitespace().rev();
        match (before.next(), before.next()) {
            (Some("takes"), Some("block")) => Some(time * experiment.design.blocks?),
            (Some("takes"), Some("trial")) => None,
            (Some("takes"), _) => Some(time),
            _ => (words.get(2..4) == Some(&["on", "two"])).then_some(time),
        }
    };
    text.match_indices("about ").find_map(duration)
}

/// Returns the newest run of an experiment, if it was interrupted.
fn interrupted(archive: &Archive, name: &str) -> Option<RunId> {
    let filter = Search { experiment: Some(name.to_owned()), limit: Some(1), ..Search::default() };
    let newest = archive.list(&filter).ok()?.into_iter().next()?;
    (newest.state == RunState::Interrupted).then_some(newest.id)
}

/// Joins a message into one line, without the lines of a file that it quotes.
fn one_line(text: &str) -> String {
    let text = text.split("-->").next().unwrap_or(text);
    let text = text.trim_start().trim_start_matches("error:");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs an experiment for no longer than the time left; returns true if a signal ended it.
pub fn run(
    archive: &Archive,
    job: &mut ReproductionJob,
    left: Option<Duration>,
    wait: bool,
) -> Result<bool> {
    let Some(prepared) = job.prepared.take() else { return Ok(false) };
    let lab = open_lab(archive, kit_paths()?, Output::Keep)?;
    if let Some(interrupt) = &lab.interrupt {
        interrupt.clear();
    }
    let mut bar = Bar::new(&prepared.experiment.name, false);
    let _lock = take_run_lock(wait, &lab, &mut bar)?;
    // The sender is dropped when the run has ended, which stops the timer.
    let (ended, clock) = mpsc::channel::<()>();
    let timer = left.zip(lab.interrupt.clone()).map(|(left, interrupt)| {
        std::thread::spawn(move || {
            if matches!(clock.recv_timeout(left), Err(mpsc::RecvTimeoutError::Timeout)) {
                interrupt.fire();
            }
        })
    });
    let outcome = match &job.state {
        ExperimentState::Interrupted(id) => lab.resume(id, &mut bar).or_else(|e| {
            say(&format!(
                "cannot continue run {id} ({}); starting a new one",
                one_line(&e.to_string())
            ));
            lab.run(&prepared, &mut bar)
        }),
        _ => lab.run(&prepared, &mut bar),
    };
    drop(ended);
    if let Some(timer) = timer {
        let _ = timer.join();
    }
    let signalled = lab.interrupt.as_ref().is_some_and(assay_system::Interrupt::signalled);
    job.state = match outcome {
        Err(e) => ExperimentState::Impossible(one_line(&e.to_string())),
        Ok(run) => match run.state {
            RunState::Completed if run.completed + run.failed > 0 && run.completed == 0 => {
                ExperimentState::Failed(format!("run {}: no trial succeeded", run.id))
            }
            RunState::Completed => ExperimentState::Made(run.id),
            RunState::Interrupted if !signalled => ExperimentState::Skipped(format!(
                "run {} was stopped by the budget; the same command continues",
                run.id
            )),
            RunState::Interrupted => ExperimentState::Interrupted(run.id),
            _ => ExperimentState::Failed(format!(
                "run {} ended early: {}",
                run.id,
                one_line(&run.reason)
            )),
        },
    };
    Ok(signalled)
}
