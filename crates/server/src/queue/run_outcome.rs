//! What the archive knows of a job's run. Events and the queue's own files can be lost to a full disk; what
//! the archive has recorded counts.

use assay_archive::{Filter, RunReader};
use assay_model::{LedgerEvent, RunId};
use jiff::Timestamp;

use crate::app::App;
use crate::live::live_run::Finish;
use crate::queue::job::Job;

/// The run of a job.
pub(crate) struct Known {
    pub run: RunId,
    /// How it ended; `None` while it runs, and when it was cut off.
    pub end: Option<Finish>,
}

/// The run of a job, if the archive has it.
pub(crate) fn run_of(app: &App, job: &Job) -> Option<Known> {
    let reader = match &job.run {
        Some(run) => app.config.archive.run(run).ok()?,
        None => find(app, job)?,
    };
    Some(Known { run: reader.id().clone(), end: end(&reader) })
}

fn end(reader: &RunReader) -> Option<Finish> {
    // After an end that was resumed there are other entries.
    let LedgerEvent::Ended { state, reason } = &reader.ledger().last()?.event else { return None };
    Some(Finish { state: *state, reason: reason.clone() })
}

/// The run of a job whose events never named it: of the same text, begun after the job was, and no
/// other job's.
fn find(app: &App, job: &Job) -> Option<RunReader> {
    let began: Timestamp = job.started_at.as_ref()?.parse().ok()?;
    // Runs note whole seconds.
    let began = began.checked_sub(jiff::SignedDuration::from_secs(1)).ok()?;
    let (folder, taken) = {
        let queue = app.queue();
        let taken: Vec<RunId> = queue.all().filter_map(|j| j.run.clone()).collect();
        (queue.folder_of(job.id), taken)
    };
    let text = std::fs::read_to_string(folder.join("experiment.toml")).ok()?;
    let filter = Filter {
        experiment: Some(job.experiment.clone()),
        since: Some(began),
        ..Filter::default()
    };
    let mut found = app.config.archive.list(&filter).ok()?;
    // The newest is first; a job's run is the first that began after it.
    found.reverse();
    found
        .into_iter()
        .filter(|summary| !taken.contains(&summary.id))
        .filter_map(|summary| app.config.archive.run(&summary.id).ok())
        .find(|reader| reader.experiment_toml().is_ok_and(|toml| toml == text))
}
