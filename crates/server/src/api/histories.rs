//! Histories and schedules over HTTP.

use assay_history::{Quoted, Shown, quoted};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jobs::add;
use super::number;
use crate::error::Refusal;
use crate::every::Every;
use crate::extract::{Answer, Body, Created, Server};
use crate::job::Job;
use crate::points::{self, Acknowledged, Afresh};
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

/// What is submitted again and again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSchedule {
    /// When, UTC: `hour`, `hour at :30`, `day at 02:00`, `weekday at 02:00`, `week on monday at 02:00`.
    pub every: String,
    /// What.
    pub submit: Submission,
}

pub(crate) async fn list(State(app): Server) -> Answer<Histories> {
    let (all, imported) =
        app.heavy(|app| Ok((points::histories(app)?.0, points::imported(app)))).await?;
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

pub(crate) async fn one(State(app): Server, Path(id): Path<String>) -> Answer<Shown> {
    app.heavy(move |app| points::history(app, &id)).await.map(Json)
}

pub(crate) async fn imported(State(app): Server, Path(name): Path<String>) -> Answer<Quoted> {
    app.heavy(move |app| Ok(quoted(&points::imported_as(app, &name)?))).await.map(Json)
}

pub(crate) async fn confirm(
    State(app): Server,
    Path(id): Path<String>,
    Body(asked): Body<AtCommit>,
) -> Created<Job> {
    let new = app.heavy(move |app| points::confirm(app, &id, &asked.commit)).await?;
    Ok((StatusCode::CREATED, Json(add(&app, new)?)))
}

pub(crate) async fn acknowledge(
    State(app): Server,
    Path(id): Path<String>,
    Body(asked): Body<Acknowledged>,
) -> Answer<Shown> {
    app.heavy(move |app| points::acknowledge(app, &id, &asked)).await.map(Json)
}

pub(crate) async fn reset(
    State(app): Server,
    Path(id): Path<String>,
    Body(asked): Body<Afresh>,
) -> Answer<Shown> {
    app.heavy(move |app| points::reset(app, &id, &asked)).await.map(Json)
}

pub(crate) async fn schedules(State(app): Server) -> Json<Vec<Schedule>> {
    Json(app.schedules().list())
}

/// Keeps a schedule, if what it submits can be submitted now; the reference of its points is what it is now.
pub(crate) async fn schedule(
    State(app): Server,
    Body(asked): Body<NewSchedule>,
) -> Created<Schedule> {
    let every: Every = asked.every.parse().map_err(Refusal::bad)?;
    let mut submit = asked.submit;
    if submit.not_before.as_deref().is_some_and(|t| !t.trim().is_empty()) {
        return Err(Refusal::bad("a schedule has its own times; leave out `not_before`"));
    }
    let submit = app
        .heavy(move |app| {
            let found = crate::change::found(app, &submit)?;
            // Of a file in a folder that counts which stands there then.
            if !found.path.as_os_str().is_empty() {
                submit.toml = None;
            }
            if submit.rev.is_some() {
                points::check_revisions(&submit)?;
                submit.reference = Some(points::reference(app, &found, &submit)?);
            }
            crate::change::job(app, &submit)?;
            Ok(submit)
        })
        .await?;
    let made = app.schedules().add(every, submit)?;
    app.rescheduled.notify_all();
    Ok((StatusCode::CREATED, Json(made)))
}

pub(crate) async fn unschedule(State(app): Server, Path(id): Path<String>) -> Answer<Schedule> {
    let removed = app.schedules().remove(number(&id)?)?;
    app.rescheduled.notify_all();
    Ok(Json(removed))
}
