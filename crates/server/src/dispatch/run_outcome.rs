//! Looks up the run of a job in the archive. A full disk can lose events and files of the queue, so
//! the records of the archive decide.

use assay_archive::{RunReader, Search};
use assay_model::{LedgerEvent, RunId};
use jiff::Timestamp;

use crate::app::App;
use crate::live::live_run::RunEnd;
use crate::queue::job::Job;

/// Run of a job, as the archive has it.
pub(crate) struct RecordedRun {
    pub run: RunId,
    /// Outcome of the run; `None` while it is in progress and if it was cut off.
    pub end: Option<RunEnd>,
}

/// Returns the run of a job, if the archive has it.
pub(crate) fn recorded_run(app: &App, job: &Job) -> Option<RecordedRun> {
    let reader = match &job.run {
        Some(run) => app.config.archive.run(run).ok()?,
        None => find(app, job)?,
    };
    Some(RecordedRun { run: reader.id().clone(), end: end(&reader) })
}

fn end(reader: &RunReader) -> Option<RunEnd> {
    // After a run was resumed, its `Ended` entry is not the last one.
    let LedgerEvent::Ended { state, reason } = &reader.ledger().last()?.event else { return None };
    Some(RunEnd { state: *state, reason: reason.clone() })
}

/// Finds the run of a job whose events never named it: a run of the same text that started after
/// the job and belongs to no other job.
fn find(app: &App, job: &Job) -> Option<RunReader> {
    let began: Timestamp = job.started_at.as_ref()?.parse().ok()?;
    // Runs record their start in whole seconds.
    let began = Timestamp::from_second(began.as_second()).ok()?;
    let (folder, taken) = {
        let queue = app.queue.lock();
        let taken: Vec<RunId> = queue.all().filter_map(|j| j.run.clone()).collect();
        (queue.folder_of(job.id), taken)
    };
    let text = std::fs::read_to_string(folder.join("experiment.toml")).ok()?;
    let filter = Search {
        experiment: Some(job.experiment.clone()),
        since: Some(began.to_string()),
        ..Search::default()
    };
    let mut found = app.config.archive.list(&filter).ok()?;
    // The list starts with the newest; the job's run is the first that started after the job.
    found.reverse();
    found
        .into_iter()
        .filter(|summary| !taken.contains(&summary.id))
        .filter_map(|summary| app.config.archive.run(&summary.id).ok())
        .find(|reader| reader.experiment_toml().is_ok_and(|toml| toml == text))
}
