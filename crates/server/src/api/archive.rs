//! API handlers that change and export runs of the archive (tags, notes, deleting, restoring), and
//! that manage saved searches.

use std::sync::Arc;

use assay_archive::Archive;
use assay_model::{Deleted, RunId, RunSummary};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use schemars::JsonSchema;
use serde::Deserialize;

use super::runs::{MAX_FILE, run_id};
use crate::app::{App, Server};
use crate::error::{Refusal, Result};
use crate::http::extract::{CreatedResult, FileResponse, Json, JsonBody, JsonResult, Path, State};
use crate::http::token::Role;
use crate::searches::SavedSearch;

routes! {
    /// Return a run as one file, as `assay archive export` writes it; requires the full token
    "get" "/api/v1/runs/{id}/bundle" "bundle" bundle, [403, 409];
    /// Add or remove tags of a run and set its note; the run's record does not change
    "post" "/api/v1/runs/{id}/annotate" "annotate" annotate, [];
    /// Delete a run; it can be restored until the day (UTC) ends
    "post" "/api/v1/runs/{id}/delete" "deleteRun" delete, [409];
    /// Restore a deleted run
    "post" "/api/v1/runs/{id}/restore" "restoreRun" restore, [409];
    /// List the deleted runs that can be restored
    "get" "/api/v1/deleted" "deleted" trash, [];
    /// List the saved searches of the archive
    "get" "/api/v1/searches" "searches" searches, [];
    /// Save a search under a name; replaces one with the same name
    "post" "/api/v1/searches" "saveSearch" save_search, [409];
    /// Remove a saved search
    "post" "/api/v1/searches/forget" "forgetSearch" forget_search, [404];
}

/// Changes to the tags and the note of a run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Annotate {
    /// Tags to add to the run.
    pub add_tags: Vec<String>,
    /// Tags to remove. Only tags that were added to the run later can be removed.
    pub remove_tags: Vec<String>,
    /// Note that replaces the existing one. Empty removes it; absent keeps it.
    pub note: Option<String>,
}

/// Runs `work` on a run of the archive, on a blocking thread.
async fn change<T: Send + 'static>(
    app: &Arc<App>,
    id: &str,
    work: impl FnOnce(&Archive, &RunId) -> Result<T> + Send + 'static,
) -> Result<T> {
    let id = run_id(id)?;
    app.heavy(move |app| work(&app.config.archive, &id)).await
}

fn line(archive: &Archive, id: &RunId) -> Result<RunSummary> {
    Ok(archive.annotated(archive.run(id)?.summary()?))
}

pub(crate) async fn annotate(
    State(app): Server,
    Path(id): Path<String>,
    JsonBody(asked): JsonBody<Annotate>,
) -> JsonResult<RunSummary> {
    let annotated = change(&app, &id, move |archive, id| {
        archive.annotate(id, |notes| {
            notes.tags.retain(|tag| !asked.remove_tags.contains(tag));
            for tag in &asked.add_tags {
                notes.add_tag(tag);
            }
            if let Some(note) = asked.note {
                notes.note = note;
            }
        })?;
        line(archive, id)
    });
    annotated.await.map(Json)
}

pub(crate) async fn delete(State(app): Server, Path(id): Path<String>) -> JsonResult<Deleted> {
    change(&app, &id, |archive, id| Ok(archive.delete(id)?)).await.map(Json)
}

pub(crate) async fn restore(State(app): Server, Path(id): Path<String>) -> JsonResult<RunSummary> {
    let restored = change(&app, &id, |archive, id| {
        archive.restore(id.as_str())?;
        line(archive, id)
    });
    restored.await.map(Json)
}

pub(crate) async fn trash(State(app): Server) -> JsonResult<Vec<Deleted>> {
    app.heavy(|app| Ok(app.config.archive.deleted()?)).await.map(Json)
}

/// Returns a run as one file, byte for byte as `assay archive export` writes it.
async fn bundle(State(app): Server, role: Role, Path(id): Path<String>) -> Result<FileResponse> {
    // Runs of earlier versions can contain secrets, which pages replace and this file does not.
    role.may_write()?;
    let state_dir = app.config.state_dir.clone();
    let (name, bytes) = change(&app, &id, move |archive, id| {
        let size: u64 = archive.files(id)?.iter().map(|(_, bytes)| bytes).sum();
        if size > MAX_FILE {
            return Err(Refusal::conflict(format!(
                "the run has {size} bytes; export it with `assay archive export {id} -o FILE`"
            )));
        }
        let name = format!("{id}.tar.zst");
        // `heavy` runs one request at a time, so no other one uses this path.
        let path = state_dir.join(format!("bundle-{name}"));
        let _ = std::fs::remove_file(&path);
        let written = archive.export(id, &path);
        let bytes = std::fs::read(&path);
        let _ = std::fs::remove_file(&path);
        written?;
        Ok((name, bytes.map_err(|e| Refusal::own(&e))?))
    })
    .await?;
    let disposition = format!("attachment; filename=\"{name}\"");
    let kind = "application/octet-stream".to_owned();
    Ok(([(CONTENT_TYPE, kind), (CONTENT_DISPOSITION, disposition)], bytes))
}

async fn searches(State(app): Server) -> Json<Vec<SavedSearch>> {
    Json(app.searches.list())
}

async fn save_search(
    State(app): Server,
    JsonBody(new): JsonBody<SavedSearch>,
) -> CreatedResult<SavedSearch> {
    Ok((StatusCode::CREATED, Json(app.searches.save(new)?)))
}

/// Saved search to remove.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchName {
    /// Name under which the search was saved.
    pub name: String,
}

async fn forget_search(
    State(app): Server,
    JsonBody(named): JsonBody<SearchName>,
) -> JsonResult<Vec<SavedSearch>> {
    app.searches.forget(&named.name)?;
    Ok(Json(app.searches.list()))
}
