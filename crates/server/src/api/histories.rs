//! API handlers for histories.

use assay_stats::series::{HistoryView, QuotedHistory, quoted};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jobs::add;
use crate::app::Server;
use crate::http::extract::{CreatedResult, Json, JsonBody, JsonResult, Path, State};
use crate::queue::job::Job;
use crate::submit::points::{self, Acknowledgement, HistoryReset};

routes! {
    /// List the histories of the archive, and the names of imported series
    "get" "/api/v1/histories" "histories" list, [];
    /// Return a metric over revisions: points, changes and their states
    "get" "/api/v1/histories/{id}" "history" one, [];
    /// Queue a fresh experiment of both sides of a change, to confirm or refute it
    "post" "/api/v1/histories/{id}/confirm" "confirmChange" confirm, [409];
    /// Acknowledge a change: it raises no alarm any more
    "post" "/api/v1/histories/{id}/acknowledge" "acknowledgeChange" acknowledge, [409];
    /// Start the series afresh at a commit, or take that back; earlier points are not compared
    /// with later ones
    "post" "/api/v1/histories/{id}/reset" "resetHistory" reset, [409];
    /// Return the series of another program, with their suspected changes
    "get" "/api/v1/imported/{name}" "importedSeries" imported, [];
}

/// Entry in the list of histories.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HistoryLine {
    /// Permanent id of the history.
    pub id: String,
    pub experiment: String,
    pub metric: String,
    /// Number of points, over all classes of machine.
    pub points: usize,
    /// Number of changes that a fresh experiment has neither confirmed nor refuted.
    pub undecided: usize,
    /// Number of confirmed changes for the worse that nobody has acknowledged.
    pub alarms: usize,
}

/// Histories of the archive, and imported series.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Histories {
    pub histories: Vec<HistoryLine>,
    /// Names under which series of other programs were imported.
    pub imported: Vec<String>,
}

/// Change of a history, named by one of its commits.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AtCommit {
    /// Full hash of the commit.
    pub commit: String,
}

async fn list(State(app): Server) -> JsonResult<Histories> {
    let (all, imported) =
        app.heavy(|app| Ok((points::histories(app)?.0, points::imported(app)))).await?;
    let line = |shown: HistoryView| {
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

async fn one(State(app): Server, Path(id): Path<String>) -> JsonResult<HistoryView> {
    app.heavy(move |app| points::history(app, &id)).await.map(Json)
}

async fn imported(State(app): Server, Path(name): Path<String>) -> JsonResult<QuotedHistory> {
    app.heavy(move |app| Ok(quoted(&points::imported_as(app, &name)?))).await.map(Json)
}

pub(crate) async fn confirm(
    State(app): Server,
    Path(id): Path<String>,
    JsonBody(asked): JsonBody<AtCommit>,
) -> CreatedResult<Job> {
    let new = app.heavy(move |app| points::confirm(app, &id, &asked.commit)).await?;
    Ok((StatusCode::CREATED, Json(add(&app, new)?)))
}

pub(crate) async fn acknowledge(
    State(app): Server,
    Path(id): Path<String>,
    JsonBody(asked): JsonBody<Acknowledgement>,
) -> JsonResult<HistoryView> {
    app.heavy(move |app| points::acknowledge(app, &id, &asked)).await.map(Json)
}

pub(crate) async fn reset(
    State(app): Server,
    Path(id): Path<String>,
    JsonBody(asked): JsonBody<HistoryReset>,
) -> JsonResult<HistoryView> {
    app.heavy(move |app| points::reset(app, &id, &asked)).await.map(Json)
}
