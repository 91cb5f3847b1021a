//! API handlers for the queue.

use std::sync::Arc;
use std::time::Duration;

use assay_lab::LiveProfile;
use axum::http::{HeaderMap, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use crate::app::{App, Server};
use crate::error::Refusal;
use crate::http::extract::{
    CreatedResult, Described, EventStream, Json, JsonBody, JsonResult, Params, Path, State,
};
use crate::http::sse;
use crate::live::live_run::{LiveRun, LiveStatus};
use crate::queue::child::{EVENTS, EXPERIMENT};
use crate::queue::job::{Job, JobState};
use crate::queue::store::{NewJob, Shift};
use crate::submit::draft::{self, Draft};
use crate::submit::overrides;
use crate::submit::submission::Submission;

routes! {
    /// Read, check and plan a submission without submitting it
    "post" "/api/v1/plan" "plan" plan, [404];
    /// List the jobs of the queue
    "get" "/api/v1/jobs" "jobs" list, [];
    /// Submit an experiment to the queue
    "post" "/api/v1/jobs" "submit" submit, [404, 409];
    /// Return one job of the queue
    "get" "/api/v1/jobs/{id}" "job" one, [];
    /// Cancel a job; a running one ends its trial and restores the settings
    "post" "/api/v1/jobs/{id}/cancel" "cancel" cancel, [409];
    /// Resume a job whose run was cut off
    "post" "/api/v1/jobs/{id}/resume" "resume" resume, [409];
    /// Move a waiting job within the queue
    "post" "/api/v1/jobs/{id}/move" "move" shift, [409];
    /// Return the live status of a job's run
    "get" "/api/v1/jobs/{id}/live" "live" live, [409];
    /// Return the newest profile of the running trial, and how long it took to make; each
    /// request makes the run take the next one
    "get" "/api/v1/jobs/{id}/profile" "profile" profile, [409];
    /// Stream the events of a job's run as they happen: first its live status, then every event
    "get" "/api/v1/jobs/{id}/events" "events" events, [409];
}

/// Maximum time that a request may wait for the end of a job, in seconds.
const MAX_WAIT_S: u64 = 50;

/// Jobs of the queue, by state.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Jobs {
    /// Running job, if there is one.
    running: Option<Job>,
    /// Waiting jobs, next one first.
    waiting: Vec<Job>,
    /// Ended jobs, newest first.
    over: Vec<Job>,
}

async fn list(State(app): Server) -> Json<Jobs> {
    let queue = app.queue.lock();
    let own = |jobs: Vec<&Job>| jobs.into_iter().cloned().collect();
    Json(Jobs {
        running: queue.running().cloned(),
        waiting: own(queue.waiting()),
        over: own(queue.ended()),
    })
}

/// Checks a submission and adds it to the queue.
pub(crate) async fn submit(
    State(app): Server,
    JsonBody(asked): JsonBody<Submission>,
) -> CreatedResult<Job> {
    let new = app.heavy(move |app| overrides::job(app, &asked)).await?;
    Ok((StatusCode::CREATED, Json(add(&app, new)?)))
}

/// Reads, checks and plans a submission without submitting it.
async fn plan(State(app): Server, JsonBody(asked): JsonBody<Submission>) -> JsonResult<Draft> {
    app.heavy(move |app| draft::draft(app, &asked)).await.map(Json)
}

/// Adds a job to the queue and wakes the dispatcher.
pub(crate) fn add(app: &App, new: NewJob) -> Result<Job, Refusal> {
    let job = app.queue.lock().add(new)?;
    app.queue.notify_changed();
    Ok(job)
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Wait {
    /// Seconds to wait for the end of the job before the response
    #[serde(default)]
    #[schemars(range(max = 50))]
    wait: u64,
}

async fn one(
    State(app): Server,
    Path(id): Path<String>,
    Params(Wait { wait }): Params<Wait>,
) -> JsonResult<Job> {
    let id = number(&id)?;
    if wait > MAX_WAIT_S {
        return Err(Refusal::bad(format!("wait is 0 to {MAX_WAIT_S} seconds")));
    }
    let until = Instant::now() + Duration::from_secs(wait);
    let mut changes = app.queue.changes();
    loop {
        changes.mark_unchanged();
        let job = app.queue.job(id)?;
        if wait == 0 || job.state.is_over() || app.queue.stopping() {
            return Ok(Json(job));
        }
        if timeout_at(until, changes.changed()).await.is_err() {
            return Ok(Json(app.queue.job(id)?));
        }
    }
}

pub(crate) async fn cancel(State(app): Server, Path(id): Path<String>) -> JsonResult<Job> {
    app.queue.cancel(number(&id)?).map(Json)
}

pub(crate) async fn resume(State(app): Server, Path(id): Path<String>) -> JsonResult<Job> {
    app.queue.resume(number(&id)?).map(Json)
}

/// New position of a waiting job.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Move {
    /// Before all other waiting jobs (`first`), one place up, or one place down.
    to: Shift,
}

pub(crate) async fn shift(
    State(app): Server,
    Path(id): Path<String>,
    JsonBody(Move { to }): JsonBody<Move>,
) -> JsonResult<Job> {
    let job = app.queue.job(number(&id)?)?;
    let moved = app.queue.lock().shift(job.id, to)?;
    app.queue.notify_changed();
    moved.map(Json).ok_or_else(|| {
        let state = job.state.name();
        Refusal::conflict(format!("job {} is {state}; only waiting jobs can be moved", job.id))
    })
}

/// Returns the live run of a job, if this server has followed it.
fn live_of(app: &App, id: &str) -> Result<Arc<LiveRun>, Refusal> {
    let job = app.queue.job(number(id)?)?;
    app.live(job.id).ok_or_else(|| {
        let state = job.state.name();
        Refusal::conflict(format!("job {id} is {state}; it has no live run"))
    })
}

async fn live(State(app): Server, Path(id): Path<String>) -> JsonResult<LiveStatus> {
    Ok(Json(live_of(&app, &id)?.status()))
}

async fn events(
    State(app): Server,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<EventStream, Refusal> {
    let live = live_of(&app, &id)?;
    let seen = headers.get("last-event-id").and_then(|v| v.to_str().ok()?.parse().ok());
    Ok(sse::run(live, seen))
}

/// Returns the newest profile of the running trial, and asks the run for the next one. Returns
/// `None` if the run has made no profile yet.
pub(crate) async fn profile(
    State(app): Server,
    Path(id): Path<String>,
) -> Result<Described<Json<Option<LiveProfile>>, Option<Map<String, Value>>>, Refusal> {
    let job = app.queue.job(number(&id)?)?;
    let folder = app.queue.lock().folder_of(job.id);
    if job.state != JobState::Running {
        let state = job.state.name();
        return Err(Refusal::conflict(format!(
            "job {id} is {state}; none of its trials is running"
        )));
    }
    let made = app.heavy(move |_| {
        let refusal = match profiling(&folder) {
            Profiling::Here => {
                let events = folder.join(EVENTS);
                return LiveProfile::request(&events)
                    .and_then(|()| LiveProfile::read(&events))
                    .map_err(|e| Refusal::own(&e));
            }
            Profiling::None => {
                format!("job {id} is not profiled; set `tracers = [\"profile\"]` under [observe]")
            }
            Profiling::Elsewhere => format!("job {id}: {ELSEWHERE}"),
        };
        Err(Refusal::conflict(refusal))
    });
    made.await.map(|made| Described::new(Json(made)))
}

/// Reason why a trial on another machine has no live profile.
pub(crate) const ELSEWHERE: &str = "its trials run on other machines (a Slurm job or virtual \
machines); their profiles arrive at the end of \
each trial and are on the run's page";

/// Place where the trials of a job are profiled, if they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profiling {
    None,
    Here,
    /// On other machines, which return the profile at the end of a trial.
    Elsewhere,
}

/// Returns where the trials of the job in `folder` are profiled.
pub(crate) fn profiling(folder: &std::path::Path) -> Profiling {
    let text = std::fs::read_to_string(folder.join(EXPERIMENT)).unwrap_or_default();
    match assay_lab::read_experiment(EXPERIMENT, &text) {
        Ok(e) if !e.observe.tracers.iter().any(|t| assay_lab::is_profile(t)) => Profiling::None,
        Ok(e) if e.place.is_remote() => Profiling::Elsewhere,
        Ok(_) => Profiling::Here,
        Err(_) => Profiling::None,
    }
}

/// Parses the number of a job. Refuses any other text with 404.
pub(crate) fn number(text: &str) -> Result<u64, Refusal> {
    text.parse().map_err(|_| Refusal::not_found(format!("`{text}` is not the number of a job")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_live_only_where_the_trials_are() {
        let folder = tempfile::tempdir().unwrap();
        let of = |more: &str| {
            let text = format!("name = \"a\"\nworkload = \"command\"\n{more}");
            std::fs::write(folder.path().join(EXPERIMENT), text).unwrap();
            profiling(folder.path())
        };
        let traced = "[observe]\ntracers = [\"profile@999\"]\n";
        assert_eq!(of(""), Profiling::None);
        assert_eq!(of(traced), Profiling::Here);
        assert_eq!(of(&format!("[where]\nengine = \"slurm\"\n{traced}")), Profiling::Elsewhere);
        assert_eq!(of(&format!("[where]\nengine = \"vm\"\n{traced}")), Profiling::Elsewhere);
    }
}
