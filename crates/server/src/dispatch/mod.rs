//! Dispatcher: a plain thread that takes the next job, starts its run, follows the run to its end
//! and records the outcome. One run at a time.

mod follow;
mod run_outcome;

use std::process::Child;
use std::sync::Arc;
use std::time::Duration;

use assay_model::{LiveEvent, RunId, RunState};
use follow::{LineReader, follow};
use jiff::Timestamp;

use crate::app::App;
use crate::error::{Refusal, ServeError};
use crate::live::live_run::LiveRun;
use crate::queue::child::{self, EVENTS, OUTPUT};
use crate::queue::job::{Job, JobState, Process};
use crate::queue::store::now;
use crate::submit::points;

/// Maximum time between two checks of the queue. They are needed without events too, because the
/// system clock can be set.
const POLL: Duration = Duration::from_secs(30);
/// Interval between attempts to write to a full disk.
const RETRY: Duration = Duration::from_secs(1);

/// Reason of a job that was cancelled after its run had started.
const CANCELLED: &str = "cancelled during the run; the measured trials are kept";

/// Brings the queue up to date after a start: checks ended jobs against the archive, and follows
/// the job that was running if its process is alive, or ends it. Then runs jobs until the server
/// stops.
pub(crate) fn run(app: &Arc<App>) {
    reconcile(app);
    let ran = app.queue.lock().running().cloned();
    if let Some(job) = ran {
        adopt(app, &job);
    }
    while let Some(id) = next_due(app) {
        if run_job(app, id).is_err() {
            // The job could not be marked as running: it stays in the queue and is tried again.
            std::thread::sleep(RETRY);
        }
    }
}

/// Corrects jobs whose recorded outcome differs from the one of their runs, because the disk was
/// full or the server was gone when they ended. The archive is right.
fn reconcile(app: &App) {
    let doubtful: Vec<Job> = {
        let queue = app.queue.lock();
        let over = queue.all().filter(|j| j.state.is_over() && j.state != JobState::Completed);
        over.filter(|j| j.started_at.is_some()).cloned().collect()
    };
    for job in doubtful {
        let Some(known) = run_outcome::recorded_run(app, &job) else { continue };
        let completed = known.end.as_ref().filter(|f| f.state == RunState::Completed);
        if job.run.is_some() && completed.is_none() {
            continue;
        }
        let _ = app.queue.lock().note(job.id, |j| {
            j.run = Some(known.run.clone());
            if let Some(end) = completed {
                j.state = JobState::Completed;
                j.reason.clone_from(&end.reason);
                j.exit = None;
            } else if j.state == JobState::Cancelled {
                j.reason = CANCELLED.into();
            }
        });
    }
    app.queue.notify_changed();
}

/// Waits for the next job that may start. Returns `None` when the server stops. No job starts while
/// the outcome of another cannot be written.
fn next_due(app: &App) -> Option<u64> {
    let mut queue = app.queue.lock();
    loop {
        if app.queue.stopping() {
            return None;
        }
        let wait = match (queue.flush(), queue.due(Timestamp::now())) {
            (Err(_), _) => RETRY,
            (Ok(()), Ok(id)) => return Some(id),
            (Ok(()), Err(None)) => POLL,
            (Ok(()), Err(Some(at))) => {
                let left = at.duration_since(Timestamp::now());
                Duration::try_from(left).unwrap_or_default().clamp(Duration::from_millis(1), POLL)
            }
        };
        queue = app.queue.wait(queue, wait);
    }
}

fn run_job(app: &Arc<App>, id: u64) -> Result<(), ServeError> {
    let folder = app.queue.lock().folder_of(id);
    let live = LiveRun::new(id);
    // Also show the events from before the interruption.
    let seen = replay(&folder.join(EVENTS), &live);
    // The page of a running job always finds its live run.
    app.set_live(Arc::clone(&live));
    // Write to disk first: a restarted server could not find a run that no file mentions.
    app.queue.lock().change(id, |j| {
        j.state = JobState::Running;
        j.started_at = Some(now());
    })?;
    let Some(job) = app.queue.lock().get(id).cloned() else { return Ok(()) };
    let (child, process) = match child::start(&app.config, &folder, job.run.as_ref()) {
        Ok(started) => started,
        Err(error) => {
            live.end();
            let ended = JobEnd { exit: None, state: JobState::Failed, reason: error.to_string() };
            record_end(app, id, ended);
            return Ok(());
        }
    };
    let cancelled = {
        let mut queue = app.queue.lock();
        let _ = queue.note(id, |j| j.process = Some(process.clone()));
        queue.get(id).is_some_and(|j| j.cancel)
    };
    if cancelled || app.queue.stopping() {
        child::interrupt(&process);
    }
    app.queue.notify_changed();
    follow_run(app, id, &process, Some(child), &live, seen);
    Ok(())
}

/// Takes over a job that was running when the previous server ended.
fn adopt(app: &Arc<App>, job: &Job) {
    let folder = app.queue.lock().folder_of(job.id);
    let live = LiveRun::new(job.id);
    app.set_live(Arc::clone(&live));
    if let Some(process) = job.process.as_ref().filter(|p| child::is_alive(p)) {
        return follow_run(app, job.id, process, None, &live, 0);
    }
    replay(&folder.join(EVENTS), &live);
    live.end();
    let ended = outcome(app, job.id, None, &live, true);
    record_end(app, job.id, ended);
}

fn replay(events: &std::path::Path, live: &LiveRun) -> usize {
    let mut count = 0;
    if let Ok(mut lines) = LineReader::open(events) {
        let _ = lines.read(&mut |line| {
            live.take(line);
            count += 1;
        });
    }
    count
}

/// Follows a run to its end. The first `skip` lines of its events are already known.
fn follow_run(
    app: &Arc<App>,
    id: u64,
    process: &Process,
    child: Option<Child>,
    live: &Arc<LiveRun>,
    skip: usize,
) {
    let path = app.queue.lock().folder_of(id).join(EVENTS);
    let mut line_number = 0;
    // Unreadable events are lost, but the process and the archive show how the run ended.
    let _ = follow(&path, process.pid, &mut |line| {
        line_number += 1;
        if line_number <= skip {
            return;
        }
        if let Some(LiveEvent::Registered { run, .. }) = live.take(line) {
            let _ = app.queue.lock().note(id, |j| j.run = Some(run));
            app.queue.notify_changed();
        }
    });
    let exit = child.and_then(|mut child| child.wait().ok()).and_then(|status| status.code());
    live.end();
    let ended = outcome(app, id, exit, live, false);
    record_end(app, id, ended);
}

struct JobEnd {
    exit: Option<i32>,
    state: JobState,
    reason: String,
}

/// Determines how a run ended: from the archive, else from its events, else from its exit code.
/// Records the id of the run in the job.
fn outcome(app: &App, id: u64, exit: Option<i32>, live: &LiveRun, found_dead: bool) -> JobEnd {
    let status = live.status();
    let job = {
        let mut queue = app.queue.lock();
        if let Some(run) = status.run.clone() {
            let _ = queue.note(id, |j| j.run = Some(run));
        }
        queue.get(id).cloned()
    };
    let known = job.as_ref().and_then(|job| run_outcome::recorded_run(app, job));
    if let Some(known) = &known {
        let _ = app.queue.lock().note(id, |j| j.run = Some(known.run.clone()));
    }
    let cancelled = job.is_some_and(|j| j.cancel);
    let stopped = app.queue.stopping();
    let output = || error_output(&app.queue.lock().folder_of(id).join(OUTPUT));
    let began = known.is_some() || status.run.is_some();
    let cut_off = |reason: &str| (JobState::Interrupted, reason.to_owned());
    let (state, reason) = match known.and_then(|k| k.end).or(status.finished) {
        Some(f) if f.state == RunState::Completed => (JobState::Completed, f.reason),
        Some(f) if f.state != RunState::Interrupted => (JobState::Failed, f.reason),
        _ if cancelled && began => (JobState::Cancelled, CANCELLED.into()),
        _ if cancelled => (JobState::Cancelled, "cancelled before the first trial".into()),
        _ if stopped => cut_off("the server was stopped"),
        Some(f) => (JobState::Interrupted, f.reason),
        None if exit == Some(130) => cut_off("the server was stopped"),
        None if found_dead => cut_off("its process ended in a crash or a reboot"),
        None if exit.is_some() => (JobState::Failed, output()),
        None => cut_off("its process was killed"),
    };
    JobEnd { exit, state, reason }
}

/// Returns the end of the output of `assay run`: from its last `error` on, at most 2000 characters.
fn error_output(path: &std::path::Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let from = text.rfind("error").unwrap_or(0);
    let output: String = text[from..].trim().chars().take(2000).collect();
    if output.is_empty() { "the run failed without output".into() } else { output }
}

/// Records the end of a job. If its file cannot be written now, [`next`] writes it before another
/// job starts.
fn record_end(app: &App, id: u64, ended: JobEnd) {
    let completed = ended.state == JobState::Completed;
    let run = app.queue.lock().get(id).and_then(|j| j.run.clone()).filter(|_| completed);
    // Before clients that wait for the job see its end.
    let follows = run.as_ref().map(|run| follow_up(app, run));
    let hooks = run.as_ref().map_or(Ok(Vec::new()), |run| points::call_hooks(app, run));
    let warnings = hooks.unwrap_or_else(|refusal| vec![refusal.message]);
    let _ = app.queue.lock().note(id, |j| {
        j.state = ended.state;
        j.exit = ended.exit;
        j.reason = ended.reason;
        j.ended_at = Some(now());
        j.process = None;
        if let Some(Err(refusal)) = &follows {
            j.reason =
                format!("{}; the follow-up job could not be queued: {}", j.reason, refusal.message);
        }
        for warning in &warnings {
            j.reason = format!("{}; {warning}", j.reason);
        }
    });
    app.queue.notify_changed();
}

/// Queues the job that follows a run, if there is one.
fn follow_up(app: &App, run: &RunId) -> Result<(), Refusal> {
    if let Some(job) = points::follow_up(app, run)? {
        app.queue.lock().add(job)?;
    }
    Ok(())
}
