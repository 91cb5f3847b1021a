//! API handlers for the server itself, its experiments, landscapes and the machine.

use assay_model::WorkloadSpec;
use assay_quoted::denominator::Denominator;
use assay_quoted::landscape::{Collection, Landscape, LandscapeError, Query as Question};
use assay_traces::block_io::IoReport;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::app::App;
use crate::error::Refusal;
use crate::http::extract::{Answer, Ask, Described, Events, Object, Server};
use crate::http::sse;
use crate::http::token::Role;
use crate::live::observe::Observed;
use crate::live::observe_io;
use crate::submit::folders::{self, ExperimentLine};
use crate::submit::overrides::{self, Form};

pub(crate) async fn nothing() -> Refusal {
    Refusal::not_found("not found; GET /api/v1/openapi.json lists the paths")
}

pub(crate) async fn document() -> Object {
    let version = env!("CARGO_PKG_VERSION");
    Described::new(Json(crate::http::openapi::document(&super::routes(), version)).into_response())
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

pub(crate) async fn status(State(app): Server, Extension(role): Extension<Role>) -> Json<Status> {
    let queue = app.queue();
    Json(Status {
        version: app.config.version.to_owned(),
        allow_any: app.config.allow_any,
        read_only: role == Role::ReadOnly,
        running: queue.running().map(|j| j.id),
        waiting: queue.waiting().len(),
    })
}

pub(crate) async fn experiments(State(app): Server) -> Answer<Vec<ExperimentLine>> {
    let lines = |app: &std::sync::Arc<App>| {
        Ok(folders::list(&app.config.folders).iter().map(folders::Listed::line).collect())
    };
    app.heavy(lines).await.map(Json)
}

pub(crate) async fn experiment(State(app): Server, Path(id): Path<String>) -> Answer<Form> {
    app.heavy(move |app| overrides::form(app, &id)).await.map(Json)
}

/// Returns the built-in workloads and all readable kits.
pub(crate) fn workloads(app: &App) -> Vec<WorkloadSpec> {
    let built_in =
        assay_workloads::builtin::table::ROWS.iter().map(|row| (row.new)().spec().clone());
    let kits = app.config.kits.kits();
    let kits = kits.keys().filter_map(|name| {
        let kit = assay_workloads::registry::find(name, &app.config.kits).ok()?;
        Some(kit.spec().clone())
    });
    built_in.chain(kits).collect()
}

pub(crate) async fn landscapes(
    State(app): Server,
) -> Result<Described<Json<Value>, Vec<Value>>, Refusal> {
    let list = app.heavy(|_| Ok(json!(collection()?.list()))).await?;
    Ok(Described::new(Json(list)))
}

/// Returns the built-in landscapes.
pub(crate) fn collection() -> Result<Collection, Refusal> {
    Collection::built_in().map_err(|e| Refusal::own(&e))
}

/// View of a landscape, as query parameters.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Shown {
    /// Denominators, separated by commas; the first decides the order
    #[schemars(extend("type" = "array", "items" = { "type": "string", "enum": Denominator::ALL.map(Denominator::name) }))]
    pub per: String,
    /// Only include results that were true on this day
    pub as_of: String,
    /// Only include results of this metric
    pub metric: String,
}

/// Returns the metrics of which one has to be chosen. Empty for a landscape with a definition,
/// which needs no choice.
pub(crate) fn metrics(name: &str) -> Result<Vec<String>, Refusal> {
    match collection()?.landscape(name, &Question::default()) {
        Err(LandscapeError::Metric { known, .. }) => Ok(known),
        _ => Ok(Vec::new()),
    }
}

/// Returns a landscape as `shown` asks for it, with its denominators checked.
pub(crate) fn make(name: &str, shown: &Shown) -> Result<Landscape, Refusal> {
    let collection = collection()?;
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
    State(app): Server,
    Path(name): Path<String>,
    Ask(shown): Ask<Shown>,
) -> Result<Object, Refusal> {
    let made = app.heavy(move |_| {
        let landscape = make(&name, &shown)?;
        Ok(json!({
            "schema_version": assay_model::SCHEMA_VERSION,
            "heading": landscape.heading(),
            "landscape": landscape,
            "matrix": landscape.matrix(),
        }))
    });
    made.await.map(|made| Described::new(Json(made).into_response()))
}

/// Refuses while a run is in progress, because sampling takes time of the machine that is measured.
pub(crate) fn may_observe(app: &App) -> Result<(), Refusal> {
    match app.queue().running() {
        None => Ok(()),
        Some(job) => Err(Refusal::conflict(format!(
            "job {} runs, and looking would disturb it; its own page shows what its monitors see",
            job.id
        ))),
    }
}

pub(crate) async fn observe(State(app): Server) -> Result<Events, Refusal> {
    may_observe(&app)?;
    Ok(sse::newest(Observed::look(&app)?))
}

pub(crate) async fn observe_io(
    State(app): Server,
    Ask(asked): Ask<observe_io::AskedIo>,
) -> Result<Described<Response, IoReport>, Refusal> {
    let about = asked.read()?;
    may_observe(&app)?;
    let report: &IoReport = &*observe_io::newest(&app, &about).await?;
    Ok(Described::new(Json(report).into_response()))
}
