//! Histories and schedules over HTTP.

use std::sync::Arc;

use assay_history::{Quoted, Shown, quoted};
use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jobs::add;
use super::number;
use crate::app::App;
use crate::error::Refusal;
use crate::every::Every;
use crate::job::Job;
use crate::points;
use crate::schedule::Schedule;
use crate::submission::Submission;

/// A history in the list of them.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HistoryLine {
    /// By this it is asked for, for ever.
    pub id: String,
    pub experiment: String,
    pub metric: String,
    /// How many points, over all classes of machine.
    pub points: usize,
    /// Changes that no fresh experiment has decided.
    pub undecided: usize,
    /// Confirmed changes for the worse that nobody acknowledged.
    pub alarms: usize,
}

/// The list of histories.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Histories {
    pub histories: Vec<HistoryLine>,
    /// The names that series of other programs were imported under.
    pub imported: Vec<String>,
}

/// The change that is meant, by one of its commits.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AtCommit {
    /// The whole commit.
    pub commit: String,
}

/// What a person knows of a change.
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

/// Where a history starts afresh.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Afresh {
    /// The whole commit, one that was measured.
    pub commit: String,
    /// Takes it back.
    #[serde(default)]
    pub undo: bool,
}

/// What is submitted again and again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSchedule {
    /// When, UTC: `hour`, `hour at :30`, `day at 02:00`, `weekday at 02:00`, `week on monday at 02:00`.
    pub every: String,
    /// What.
    pub submit: Submission,
}

pub(crate) async fn list(State(app): State<Arc<App>>) -> Result<Json<Histories>, Refusal> {
    let own = Arc::clone(&app);
    let ((all, _), imported) = app
        .heavy(move || Ok::<_, Refusal>((points::histories(&own)?, points::imported(&own))))
        .await??;
    let line = |shown: Shown| {
        let changes = || shown.series.iter().flat_map(|s| &s.changes);
        HistoryLine {
            points: shown.series.iter().map(|s| s.points.len()).sum(),
            undecided: changes().filter(|c| c.is_undecided()).count(),
            alarms: shown.alarms(),
            id: shown.id.clone(),
            experiment: shown.experiment.clone(),
            metric: shown.metric.clone(),
        }
    };
    Ok(Json(Histories {
        histories: all.into_iter().map(line).collect(),
        imported: imported.into_iter().map(|(name, _)| name).collect(),
    }))
}

pub(crate) async fn one(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Shown>, Refusal> {
    let own = Arc::clone(&app);
    app.heavy(move || points::history(&own, &id)).await?.map(Json)
}

pub(crate) async fn imported(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Json<Quoted>, Refusal> {
    let own = Arc::clone(&app);
    let all = app.heavy(move || points::imported(&own)).await?;
    let found = all.into_iter().find(|(known, _)| *known == name);
    let none = || Refusal::not_found(format!("no imported series is called `{name}`"));
    found.map(|(_, i)| Json(quoted(&i))).ok_or_else(none)
}

pub(crate) async fn confirm(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    body: Result<Json<AtCommit>, JsonRejection>,
) -> Result<(StatusCode, Json<Job>), Refusal> {
    let Json(AtCommit { commit }) = body.map_err(|e| Refusal::new(e.status(), e.body_text()))?;
    Ok((StatusCode::CREATED, Json(confirmed(&app, id, commit).await?)))
}

pub(crate) async fn confirmed(app: &Arc<App>, id: String, commit: String) -> Result<Job, Refusal> {
    let own = Arc::clone(app);
    let new = app.heavy(move || points::confirm(&own, &id, &commit)).await??;
    add(app, new)
}

pub(crate) async fn acknowledge(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    body: Result<Json<Acknowledged>, JsonRejection>,
) -> Result<Json<Shown>, Refusal> {
    let Json(asked) = body.map_err(|e| Refusal::new(e.status(), e.body_text()))?;
    acknowledged(&app, id, asked).await.map(Json)
}

pub(crate) async fn acknowledged(
    app: &Arc<App>,
    id: String,
    asked: Acknowledged,
) -> Result<Shown, Refusal> {
    let own = Arc::clone(app);
    let Acknowledged { commit, note, link } = asked;
    app.heavy(move || points::acknowledge(&own, &id, &commit, &note, &link)).await?
}

pub(crate) async fn reset(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    body: Result<Json<Afresh>, JsonRejection>,
) -> Result<Json<Shown>, Refusal> {
    let Json(asked) = body.map_err(|e| Refusal::new(e.status(), e.body_text()))?;
    started_afresh(&app, id, asked).await.map(Json)
}

pub(crate) async fn started_afresh(
    app: &Arc<App>,
    id: String,
    asked: Afresh,
) -> Result<Shown, Refusal> {
    let own = Arc::clone(app);
    app.heavy(move || points::reset(&own, &id, &asked.commit, asked.undo)).await?
}

pub(crate) async fn schedules(State(app): State<Arc<App>>) -> Json<Vec<Schedule>> {
    Json(app.schedules().list())
}

pub(crate) async fn schedule(
    State(app): State<Arc<App>>,
    body: Result<Json<NewSchedule>, JsonRejection>,
) -> Result<(StatusCode, Json<Schedule>), Refusal> {
    let Json(asked) = body.map_err(|e| Refusal::new(e.status(), e.body_text()))?;
    Ok((StatusCode::CREATED, Json(scheduled(&app, asked).await?)))
}

/// Keeps a schedule, if what it submits can be submitted now; the reference of its points is what it is now.
pub(crate) async fn scheduled(app: &Arc<App>, asked: NewSchedule) -> Result<Schedule, Refusal> {
    let every: Every = asked.every.parse().map_err(Refusal::bad)?;
    let mut submit = asked.submit;
    if submit.not_before.as_deref().is_some_and(|t| !t.trim().is_empty()) {
        return Err(Refusal::bad("a schedule has its own times; leave out `not_before`"));
    }
    let own = Arc::clone(app);
    let submit = app
        .heavy(move || -> Result<Submission, Refusal> {
            let found = crate::change::found(&own, &submit)?;
            // Of a file in a folder that counts which stands there then.
            if !found.path.as_os_str().is_empty() {
                submit.toml = None;
            }
            if submit.rev.is_some() {
                points::check_revisions(&submit)?;
                submit.reference = Some(points::reference(&own, &found, &submit)?);
            }
            crate::change::job(&own, &submit)?;
            Ok(submit)
        })
        .await??;
    let made = app.schedules().add(every, submit)?;
    app.rescheduled.notify_all();
    Ok(made)
}

pub(crate) async fn unschedule(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Schedule>, Refusal> {
    unscheduled(&app, &id).map(Json)
}

pub(crate) fn unscheduled(app: &App, id: &str) -> Result<Schedule, Refusal> {
    let removed = app.schedules().remove(number(id)?)?;
    app.rescheduled.notify_all();
    Ok(removed)
}
