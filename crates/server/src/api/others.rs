//! The server itself, its experiments, landscapes and the machine over HTTP.

use std::sync::Arc;

use assay_iotrace::IoReport;
use assay_rules::denominator::Denominator;
use assay_rules::landscape::{Collection, Landscape, Query as Question};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::App;
use crate::change::{self, Form};
use crate::error::Refusal;
use crate::folders::{self, ExperimentLine};
use crate::observe::Observed;
use crate::observe_io;
use crate::sse;
use crate::token::Role;

pub(crate) async fn nothing() -> Refusal {
    Refusal::not_found("not found; GET /api/v1/openapi.json lists the paths")
}

pub(crate) async fn document() -> Json<Value> {
    Json(crate::openapi::document(env!("CARGO_PKG_VERSION")))
}

/// The server.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Status {
    /// The version of assay.
    version: String,
    /// Whether any experiment may be submitted.
    allow_any: bool,
    /// Whether the one who asks may look and change nothing.
    read_only: bool,
    /// The number of the job that runs.
    running: Option<u64>,
    /// How many jobs wait.
    waiting: usize,
}

pub(crate) async fn status(
    State(app): State<Arc<App>>,
    Extension(role): Extension<Role>,
) -> Json<Status> {
    let queue = app.queue();
    Json(Status {
        version: app.config.version.to_owned(),
        allow_any: app.config.allow_any,
        read_only: role == Role::ReadOnly,
        running: queue.running().map(|j| j.id),
        waiting: queue.waiting().len(),
    })
}

pub(crate) async fn experiments(
    State(app): State<Arc<App>>,
) -> Result<Json<Vec<ExperimentLine>>, Refusal> {
    lines(&app).await.map(Json)
}

pub(crate) async fn lines(app: &Arc<App>) -> Result<Vec<ExperimentLine>, Refusal> {
    let own = Arc::clone(app);
    app.heavy(move || {
        folders::list(&own.config.folders).iter().map(folders::Listed::line).collect()
    })
    .await
}

pub(crate) async fn experiment(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Form>, Refusal> {
    form(&app, id).await.map(Json)
}

pub(crate) async fn form(app: &Arc<App>, id: String) -> Result<Form, Refusal> {
    let own = Arc::clone(app);
    app.heavy(move || change::form(&own, &id)).await?
}

/// A workload that a submission can start from.
pub(crate) struct WorkloadLine {
    pub name: String,
    pub help: String,
}

/// The built-in workloads and the kits that can be read.
pub(crate) fn workloads(app: &App) -> Vec<WorkloadLine> {
    let built_in = assay_workloads::builtin::ROWS.iter().map(|row| (row.new)().spec().clone());
    let kits = app.config.kits.kits();
    let kits = kits.keys().filter_map(|name| {
        let kit = assay_workloads::registry::find(name, &app.config.kits).ok()?;
        Some(kit.spec().clone())
    });
    built_in.chain(kits).map(|s| WorkloadLine { name: s.name, help: s.help }).collect()
}

pub(crate) async fn landscapes(State(app): State<Arc<App>>) -> Result<Json<Value>, Refusal> {
    let list = app
        .heavy(|| match Collection::built_in() {
            Ok(collection) => Ok(serde_json::json!(collection.list())),
            Err(e) => Err(Refusal::own(&e)),
        })
        .await??;
    Ok(Json(list))
}

/// How a landscape is shown.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Shown {
    pub per: String,
    pub as_of: String,
    pub metric: String,
}

/// A landscape with its matrix.
pub(crate) fn make(name: &str, shown: &Shown) -> Result<Landscape, Refusal> {
    let collection = Collection::built_in().map_err(|e| Refusal::own(&e))?;
    if !collection.list().iter().any(|l| l.name == name) {
        return Err(Refusal::not_found(format!("there is no landscape `{name}`")));
    }
    let some = |text: &str| Some(text.trim().to_owned()).filter(|t| !t.is_empty());
    let per = shown.per.split(',').map(str::trim).filter(|p| !p.is_empty());
    let per = per.map(str::parse).collect::<Result<Vec<Denominator>, _>>();
    let per = per.map_err(|e| Refusal::bad(e.to_string()))?;
    let query = Question { as_of: some(&shown.as_of), per, metric: some(&shown.metric), top: None };
    let mut landscape =
        collection.landscape(name, &query).map_err(|e| Refusal::bad(e.to_string()))?;
    landscape.check_denominators(&query.per, true, assay_model::Profile::Lab);
    Ok(landscape)
}

pub(crate) async fn landscape(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    query: Result<Query<Shown>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(shown) = query.map_err(|e| Refusal::bad(e.body_text()))?;
    let made = move || -> Result<Value, Refusal> {
        let landscape = make(&name, &shown)?;
        Ok(serde_json::json!({
            "schema_version": assay_model::SCHEMA_VERSION,
            "heading": landscape.heading(),
            "landscape": landscape,
            "matrix": landscape.matrix(),
        }))
    };
    app.heavy(made).await?.map(Json)
}

/// Refused while a run goes on: looking costs time of the machine that is measured.
pub(crate) fn may_observe(app: &App) -> Result<(), Refusal> {
    match app.queue().running() {
        None => Ok(()),
        Some(job) => Err(Refusal::conflict(format!(
            "job {} runs, and looking would disturb it; its own page shows what its monitors see",
            job.id
        ))),
    }
}

pub(crate) async fn observe(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    may_observe(&app)?;
    Ok(sse::newest(Observed::look(&app)?))
}

pub(crate) async fn observe_io(
    State(app): State<Arc<App>>,
    query: Result<Query<observe_io::AskedIo>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(asked) = query.map_err(|e| Refusal::bad(e.body_text()))?;
    let about = asked.read()?;
    may_observe(&app)?;
    let report: &IoReport = &*observe_io::newest(&app, &about).await?;
    Ok(Json(report).into_response())
}
