//! API handlers for landscapes of quoted results.

use assay_quoted::denominator::Denominator;
use assay_quoted::landscape::{Collection, Landscape, LandscapeError, Query as Question};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::Server;
use crate::error::Refusal;
use crate::http::extract::{Described, Json, JsonObject, Params, Path, State};

routes! {
    /// List the built-in landscapes
    "get" "/api/v1/landscapes" "landscapes" landscapes, [];
    /// Return one landscape with every denominator
    "get" "/api/v1/landscapes/{name}" "landscape" landscape, [];
}

async fn landscapes(State(app): Server) -> Result<Described<Json<Value>, Vec<Value>>, Refusal> {
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
pub(crate) struct LandscapeQuery {
    /// Denominators, separated by commas; the first decides the order
    #[schemars(extend("type" = "array",
        "items" = { "type": "string", "enum": Denominator::ALL.map(Denominator::name) }))]
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
pub(crate) fn make(name: &str, shown: &LandscapeQuery) -> Result<Landscape, Refusal> {
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

async fn landscape(
    State(app): Server,
    Path(name): Path<String>,
    Params(shown): Params<LandscapeQuery>,
) -> Result<JsonObject, Refusal> {
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
