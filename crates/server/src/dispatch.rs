//! The dispatcher: one plain thread that takes the next job, starts its run, follows it to its end and
//! writes down how it ended. One run at a time.

use std::process::Child;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use assay_model::{LiveEvent, RunState};
use jiff::Timestamp;

use crate::app::App;
use crate::child::{self, EVENTS, WORDS};
use crate::error::ServeError;
use crate::follow::{Lines, follow};
use crate::job::{Job, JobState, Process};
use crate::live::Live;
use crate::queue::now;

/// The dispatcher looks again after this, also when nothing happened: clocks are set.
const LOOK: Duration = Duration::from_secs(30);

/// Puts the queue in order after a start: what ran is followed if it still runs, else it is
/// interrupted. Then runs jobs until the server stops.
pub(crate) fn run(app: &Arc<App>) {
    let ran = app.queue().running().cloned();
    if let Some(job) = ran {
        report(app, take_up(app, &job));
    }
    while let Some(id) = next(app) {
        let done = one(app, id);
        report(app, done);
    }
}

/// The queue's own disk failed: the job is marked as failed if that can be written, and others go on.
fn report(app: &App, done: Result<(), ServeError>) {
    if let Err(error) = done {
        let mut queue = app.queue();
        if let Some(id) = queue.running().map(|j| j.id) {
            let _ = queue.change(id, |j| {
                j.state = JobState::Failed;
                j.ended_at = Some(now());
                j.reason = error.to_string();
            });
        }
        drop(queue);
        app.touch();
        // A disk that is full is not asked a thousand times a second.
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Waits for the next job whose time has come; `None` when the server stops.
fn next(app: &App) -> Option<u64> {
    let mut queue = app.queue();
    loop {
        if app.stopping() {
            return None;
        }
        let wait = match queue.due(Timestamp::now()) {
            Ok(id) => return Some(id),
            Err(None) => LOOK,
            Err(Some(at)) => {
                let left = at.duration_since(Timestamp::now());
                Duration::try_from(left).unwrap_or_default().clamp(Duration::from_millis(1), LOOK)
            }
        };
        queue = app.turned.wait_timeout(queue, wait).unwrap_or_else(PoisonError::into_inner).0;
    }
}

fn one(app: &Arc<App>, id: u64) -> Result<(), ServeError> {
    let (job, folder) = {
        let mut queue = app.queue();
        let folder = queue.folder_of(id);
        let marked = queue.change(id, |j| {
            j.state = JobState::Running;
            j.started_at = Some(now());
        })?;
        let Some(job) = marked else { return Ok(()) };
        (job, folder)
    };
    let live = Live::new(id);
    // What happened before it was cut off is shown too.
    let seen = replay(&folder.join(EVENTS), &live);
    app.set_live(Arc::clone(&live));
    let (child, process) = match child::start(&app.config, &folder, job.run.as_ref()) {
        Ok(started) => started,
        Err(error) => {
            live.end();
            let ended = Ended { exit: None, state: JobState::Failed, reason: error.to_string() };
            return conclude(app, id, ended);
        }
    };
    let known = process.clone();
    let cancelled = app.queue().change(id, |j| j.process = Some(known))?.is_some_and(|j| j.cancel);
    if cancelled || app.stopping() {
        child::interrupt(&process);
    }
    app.touch();
    watch(app, id, &process, Some(child), &live, seen)
}

/// A job that ran when the last server ended.
fn take_up(app: &Arc<App>, job: &Job) -> Result<(), ServeError> {
    let folder = app.queue().folder_of(job.id);
    let live = Live::new(job.id);
    app.set_live(Arc::clone(&live));
    if let Some(process) = job.process.as_ref().filter(|p| child::is_alive(p)) {
        return watch(app, job.id, process, None, &live, 0);
    }
    replay(&folder.join(EVENTS), &live);
    live.end();
    note_run(app, job.id, &live)?;
    let ended = judge(app, job.id, None, &live, true);
    conclude(app, job.id, ended)
}

fn replay(events: &std::path::Path, live: &Live) -> usize {
    let mut count = 0;
    if let Ok(mut lines) = Lines::open(events) {
        let _ = lines.read(&mut |line| {
            live.take(line);
            count += 1;
        });
    }
    count
}

/// Follows a run to its end; the first `skip` lines are known.
fn watch(
    app: &Arc<App>,
    id: u64,
    process: &Process,
    child: Option<Child>,
    live: &Arc<Live>,
    skip: usize,
) -> Result<(), ServeError> {
    let path = app.queue().folder_of(id).join(EVENTS);
    let mut line_number = 0;
    let mut failure = None;
    let followed = follow(&path, process.pid, &mut |line| {
        line_number += 1;
        if line_number <= skip {
            return;
        }
        if let Some(LiveEvent::Registered { run, .. }) = live.take(line) {
            failure = app.queue().change(id, |j| j.run = Some(run)).err();
            app.touch();
        }
    });
    let exit = child.and_then(|mut child| child.wait().ok()).and_then(|status| status.code());
    live.end();
    followed.map_err(ServeError::io("follow", &path))?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    note_run(app, id, live)?;
    let ended = judge(app, id, exit, live, false);
    conclude(app, id, ended)
}

/// Writes down which run the job has, if its events tell.
fn note_run(app: &App, id: u64, live: &Live) -> Result<(), ServeError> {
    let run = live.standing().run;
    if let Some(run) = run {
        app.queue().change(id, |j| j.run = Some(run))?;
    }
    Ok(())
}

struct Ended {
    exit: Option<i32>,
    state: JobState,
    reason: String,
}

/// How a run ended: as it said itself, else as its exit code says.
fn judge(app: &App, id: u64, exit: Option<i32>, live: &Live, found_dead: bool) -> Ended {
    let cancelled = app.queue().get(id).is_some_and(|j| j.cancel);
    let stopped = app.stopping();
    let standing = live.standing();
    let words = || last_words(&app.queue().folder_of(id).join(WORDS));
    let (state, reason) = match standing.finished {
        Some(f) if f.state == RunState::Completed => (JobState::Completed, f.reason),
        Some(f) if f.state == RunState::Interrupted && cancelled => {
            (JobState::Cancelled, "cancelled while it ran; what was measured is kept".into())
        }
        Some(f) if f.state == RunState::Interrupted && stopped => {
            (JobState::Interrupted, "the server was stopped".into())
        }
        Some(f) if f.state == RunState::Interrupted => (JobState::Interrupted, f.reason),
        Some(f) => (JobState::Failed, f.reason),
        None if cancelled => (JobState::Cancelled, "cancelled before its first trial".into()),
        None if stopped || exit == Some(130) => {
            (JobState::Interrupted, "the server was stopped".into())
        }
        None if found_dead => {
            let reason = "its process was gone when the server started: a crash or a reboot";
            (JobState::Interrupted, reason.into())
        }
        None if exit.is_some() => (JobState::Failed, words()),
        None => (JobState::Interrupted, "its process was killed".into()),
    };
    Ended { exit, state, reason }
}

/// The last words of `assay run`: from its last `error` on.
fn last_words(path: &std::path::Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let from = text.rfind("error").unwrap_or(0);
    let words: String = text[from..].trim().chars().take(2000).collect();
    if words.is_empty() { "it ended without a word".into() } else { words }
}

fn conclude(app: &App, id: u64, ended: Ended) -> Result<(), ServeError> {
    app.queue().change(id, |j| {
        j.state = ended.state;
        j.exit = ended.exit;
        j.reason = ended.reason;
        j.ended_at = Some(now());
        j.process = None;
    })?;
    app.touch();
    Ok(())
}
