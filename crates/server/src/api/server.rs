//! API handlers for the server itself and the experiments that it offers.

use std::sync::Arc;

use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::app::{App, Server};
use crate::error::Refusal;
use crate::http::extract::{Described, Json, JsonObject, JsonResult, Path, State};
use crate::http::token::Role;
use crate::submit::folders::{self, ExperimentLine};
use crate::submit::overrides::{self, ExperimentForm};

routes! {
    /// Return this OpenAPI document
    "get" "/api/v1/openapi.json" "openapi" document, [];
    /// Return the status of the server
    "get" "/api/v1/status" "status" status, [];
    /// List the experiments that may be submitted
    "get" "/api/v1/experiments" "experiments" experiments, [];
    /// Return the form for one experiment
    "get" "/api/v1/experiments/{id}" "experiment" experiment, [400];
}

pub(crate) async fn nothing() -> Refusal {
    Refusal::not_found("not found; GET /api/v1/openapi.json lists the paths")
}

async fn document() -> JsonObject {
    let document: Value =
        serde_json::from_str(include_str!("openapi.json")).expect("a test reads it");
    Described::new(Json(document).into_response())
}

/// Status of the server.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Status {
    /// Version of the server's assay.
    version: String,
    /// True if any experiment may be submitted.
    allow_any: bool,
    /// True if the client may only read.
    read_only: bool,
    /// Number of the running job, if there is one.
    running: Option<u64>,
    /// Number of waiting jobs.
    waiting: usize,
}

async fn status(State(app): Server, role: Role) -> Json<Status> {
    let queue = app.queue.lock();
    Json(Status {
        version: app.config.version.to_owned(),
        allow_any: app.config.allow_any,
        read_only: role == Role::ReadOnly,
        running: queue.running().map(|j| j.id),
        waiting: queue.waiting().len(),
    })
}

pub(crate) async fn experiments(State(app): Server) -> JsonResult<Vec<ExperimentLine>> {
    let lines = |app: &Arc<App>| {
        Ok(folders::list(&app.config.folders).iter().map(folders::ExperimentFile::line).collect())
    };
    app.heavy(lines).await.map(Json)
}

async fn experiment(State(app): Server, Path(id): Path<String>) -> JsonResult<ExperimentForm> {
    app.heavy(move |app| overrides::form(app, &id)).await.map(Json)
}
