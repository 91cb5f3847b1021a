//! The queue over HTTP.

use std::sync::Arc;
use std::time::Duration;

use assay_lab::LiveProfile;
use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout_at};

use crate::app::App;
use crate::change::{self, Made};
use crate::child::{EVENTS, EXPERIMENT};
use crate::draft::{self, Draft};
use crate::error::Refusal;
use crate::job::{Job, JobState};
use crate::live::Live;
use crate::queue::{NewJob, Shift};
use crate::sse;
use crate::submission::Submission;

/// The longest that an answer is waited for.
const MAX_WAIT_S: u64 = 50;

/// The queue.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Jobs {
    /// The one that runs.
    running: Option<Job>,
    /// Those that wait, the next one first.
    waiting: Vec<Job>,
    /// Those that are over, the newest first.
    over: Vec<Job>,
}

pub(crate) async fn list(State(app): State<Arc<App>>) -> Json<Jobs> {
    let queue = app.queue();
    let own = |jobs: Vec<&Job>| jobs.into_iter().cloned().collect();
    Json(Jobs {
        running: queue.running().cloned(),
        waiting: own(queue.waiting()),
        over: own(queue.over()),
    })
}

pub(crate) async fn submit(
    State(app): State<Arc<App>>,
    body: Result<Json<Submission>, JsonRejection>,
) -> Result<(StatusCode, Json<Job>), Refusal> {
    let Json(asked) = body.map_err(|e| Refusal::new(e.status(), e.body_text()))?;
    let job = enqueue(&app, asked).await?;
    Ok((StatusCode::CREATED, Json(job)))
}

/// Reads, checks and plans what would be submitted.
pub(crate) async fn plan(
    State(app): State<Arc<App>>,
    body: Result<Json<Submission>, JsonRejection>,
) -> Result<Json<Draft>, Refusal> {
    let Json(asked) = body.map_err(|e| Refusal::new(e.status(), e.body_text()))?;
    let own = Arc::clone(&app);
    app.heavy(move || draft::draft(&own, &asked, "")).await?.map(Json)
}

/// Checks what is submitted, beside the thread that answers, and puts it into the queue.
pub(crate) async fn enqueue(app: &Arc<App>, asked: Submission) -> Result<Job, Refusal> {
    let own = Arc::clone(app);
    match app.heavy(move || change::job(&own, &asked)).await?? {
        Made::Nothing(why) => Err(Refusal::conflict(why)),
        Made::Job(new) => add(app, *new),
    }
}

/// Puts a job into the queue.
pub(crate) fn add(app: &App, new: NewJob) -> Result<Job, Refusal> {
    let job = app.queue().add(new)?;
    app.touch();
    Ok(job)
}

#[derive(Debug, Deserialize)]
pub(crate) struct Wait {
    /// Answer when the job has ended, or after this many seconds.
    #[serde(default)]
    wait: u64,
}

pub(crate) async fn one(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    query: Result<Query<Wait>, QueryRejection>,
) -> Result<Json<Job>, Refusal> {
    let id = number(&id)?;
    let Query(Wait { wait }) = query.map_err(|e| Refusal::bad(e.body_text()))?;
    if wait > MAX_WAIT_S {
        return Err(Refusal::bad(format!("wait is 0 to {MAX_WAIT_S} seconds")));
    }
    let until = Instant::now() + Duration::from_secs(wait);
    let mut changes = app.changes();
    loop {
        changes.mark_unchanged();
        let job = app.job(id)?;
        if wait == 0 || job.state.is_over() || app.stopping() {
            return Ok(Json(job));
        }
        if timeout_at(until, changes.changed()).await.is_err() {
            return Ok(Json(app.job(id)?));
        }
    }
}

pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Job>, Refusal> {
    app.cancel(number(&id)?).map(Json)
}

pub(crate) async fn resume(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Job>, Refusal> {
    app.resume(number(&id)?).map(Json)
}

/// Where to move a job.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Move {
    /// Before all others, one place up, or one place down.
    to: Shift,
}

pub(crate) async fn shift(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    body: Result<Json<Move>, JsonRejection>,
) -> Result<Json<Job>, Refusal> {
    let id = number(&id)?;
    let Json(Move { to }) = body.map_err(|e| Refusal::new(e.status(), e.body_text()))?;
    moved(&app, id, to).map(Json)
}

pub(crate) fn moved(app: &App, id: u64, to: Shift) -> Result<Job, Refusal> {
    let job = app.job(id)?;
    let moved = app.queue().shift(id, to)?;
    app.touch();
    moved.ok_or_else(|| {
        Refusal::conflict(format!("job {id} is {}; only one that waits is moved", job.state.name()))
    })
}

/// The run of a job as it goes on, if this server has seen it.
pub(crate) fn live_of(app: &App, id: u64) -> Result<Arc<Live>, Refusal> {
    let job = app.job(id)?;
    app.live(id).ok_or_else(|| {
        let state = job.state.name();
        Refusal::conflict(format!("job {id} is {state}; it has no run that can be watched now"))
    })
}

pub(crate) async fn live(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    Ok(Json(live_of(&app, number(&id)?)?.status()).into_response())
}

pub(crate) async fn events(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let live = live_of(&app, number(&id)?)?;
    let seen = headers.get("last-event-id").and_then(|v| v.to_str().ok()?.parse().ok());
    Ok(sse::run(live, seen))
}

/// The profile of the trial that runs, as the run made it last, and asks for the next; `None`: it has made none yet.
pub(crate) async fn profile_of(app: &Arc<App>, id: u64) -> Result<Option<LiveProfile>, Refusal> {
    let job = app.job(id)?;
    let folder = app.queue().folder_of(id);
    if job.state != JobState::Running {
        let state = job.state.name();
        return Err(Refusal::conflict(format!("job {id} is {state}; no trial of it runs")));
    }
    app.heavy(move || {
        match profiling(&folder) {
            Profiling::Here => {}
            Profiling::None => {
                return Err(Refusal::conflict(format!(
                    "job {id} is not profiled; its experiment has no `tracers = [\"profile\"]` under [observe]"
                )));
            }
            Profiling::Elsewhere => {
                return Err(Refusal::conflict(format!("job {id}: {ELSEWHERE}")));
            }
        }
        let events = folder.join(EVENTS);
        LiveProfile::ask(&events).map_err(|e| Refusal::own(&e))?;
        LiveProfile::read(&events).map_err(|e| Refusal::own(&e))
    })
    .await?
}

/// What the profile of a trial that runs elsewhere is.
pub(crate) const ELSEWHERE: &str = "its trials run on other machines (a Slurm job or virtual machines); their profiles come with the end of \
     each trial and are on the page of the run";

/// Whether and where the trials of a job are profiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profiling {
    None,
    Here,
    /// On other machines, which hand it over at the end of a trial.
    Elsewhere,
}

/// Of the job in a folder.
pub(crate) fn profiling(folder: &std::path::Path) -> Profiling {
    let text = std::fs::read_to_string(folder.join(EXPERIMENT)).unwrap_or_default();
    match assay_lab::read_experiment(EXPERIMENT, &text) {
        Ok(e) if !e.observe.tracers.iter().any(|t| assay_lab::is_profile(t)) => Profiling::None,
        Ok(e) if e.place.is_remote() => Profiling::Elsewhere,
        Ok(_) => Profiling::Here,
        Err(_) => Profiling::None,
    }
}

pub(crate) async fn profile(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    Ok(Json(profile_of(&app, number(&id)?).await?).into_response())
}

/// The number of a job; what is none is no job.
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
