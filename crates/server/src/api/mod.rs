//! The JSON API. `openapi.rs` describes it; a test asks every operation that stands there.

pub(crate) mod histories;
pub(crate) mod jobs;
pub(crate) mod keep;
pub(crate) mod others;
pub(crate) mod runs;

pub(crate) use histories::{Acknowledged, Afresh, AtCommit, Histories, NewSchedule};
pub(crate) use jobs::{Jobs, Move, number};
pub(crate) use keep::{Annotate, Named};
pub(crate) use others::Status;

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::app::App;
use crate::error::Refusal;

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(self.json())).into_response()
    }
}

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/api/v1/openapi.json", get(others::document))
        .route("/api/v1/status", get(others::status))
        .route("/api/v1/experiments", get(others::experiments))
        .route("/api/v1/experiments/{id}", get(others::experiment))
        .route("/api/v1/plan", post(jobs::plan))
        .route("/api/v1/jobs", get(jobs::list).post(jobs::submit))
        .route("/api/v1/jobs/{id}", get(jobs::one))
        .route("/api/v1/jobs/{id}/cancel", post(jobs::cancel))
        .route("/api/v1/jobs/{id}/resume", post(jobs::resume))
        .route("/api/v1/jobs/{id}/move", post(jobs::shift))
        .route("/api/v1/jobs/{id}/live", get(jobs::live))
        .route("/api/v1/jobs/{id}/profile", get(jobs::profile))
        .route("/api/v1/jobs/{id}/events", get(jobs::events))
        .route("/api/v1/runs", get(runs::list))
        .route("/api/v1/runs/{id}", get(runs::one))
        .route("/api/v1/runs/{id}/files", get(runs::files))
        .route("/api/v1/runs/{id}/files/{number}", get(runs::file))
        .route("/api/v1/runs/{id}/bundle", get(keep::bundle))
        .route("/api/v1/runs/{id}/annotate", post(keep::annotate))
        .route("/api/v1/runs/{id}/delete", post(keep::delete))
        .route("/api/v1/runs/{id}/restore", post(keep::restore))
        .route("/api/v1/deleted", get(keep::trash))
        .route("/api/v1/searches", get(keep::searches).post(keep::save_search))
        .route("/api/v1/searches/forget", post(keep::forget_search))
        .route("/api/v1/compare", get(runs::compare))
        .route("/api/v1/histories", get(histories::list))
        .route("/api/v1/histories/{id}", get(histories::one))
        .route("/api/v1/histories/{id}/confirm", post(histories::confirm))
        .route("/api/v1/histories/{id}/acknowledge", post(histories::acknowledge))
        .route("/api/v1/histories/{id}/reset", post(histories::reset))
        .route("/api/v1/imported/{name}", get(histories::imported))
        .route("/api/v1/schedules", get(histories::schedules).post(histories::schedule))
        .route("/api/v1/schedules/{id}/cancel", post(histories::unschedule))
        .route("/api/v1/landscapes", get(others::landscapes))
        .route("/api/v1/landscapes/{name}", get(others::landscape))
        .route("/api/v1/observe", get(others::observe))
        .route("/api/v1/observe/io", get(others::observe_io))
        .route("/api/{*rest}", get(others::nothing).post(others::nothing))
}
