//! What people do to runs of the archive: tags, notes, deleting, restoring, taking a run away whole; and the
//! searches that they saved.

use std::sync::Arc;

use assay_archive::Archive;
use assay_model::{Deleted, RunId, RunSummary};
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::Deserialize;

use super::runs::{MAX_FILE, run_id};
use crate::app::App;
use crate::error::Refusal;
use crate::guard::read_only;
use crate::searches::SavedSearch;
use crate::token::Role;

/// What is added to a run after it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Annotate {
    /// Tags to add.
    pub add_tags: Vec<String>,
    /// Tags to take away, of those that were added.
    pub remove_tags: Vec<String>,
    /// The note, which replaces the one before; empty removes it; absent leaves it.
    pub note: Option<String>,
}

type Body<T> = Result<Json<T>, JsonRejection>;

fn body<T>(body: Body<T>) -> Result<T, Refusal> {
    body.map(|Json(t)| t).map_err(|e| Refusal::new(e.status(), e.body_text()))
}

/// Does something to a run beside the thread that answers.
async fn change<T: Send + 'static>(
    app: &Arc<App>,
    id: &str,
    work: impl FnOnce(&Archive, &RunId) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let id = run_id(id)?;
    let archive = app.config.archive.clone();
    app.heavy(move || work(&archive, &id)).await?
}

fn line(archive: &Archive, id: &RunId) -> Result<RunSummary, Refusal> {
    Ok(archive.annotated(archive.run(id)?.summary()?))
}

pub(crate) async fn annotated(
    app: &Arc<App>,
    id: &str,
    asked: Annotate,
) -> Result<RunSummary, Refusal> {
    change(app, id, move |archive, id| {
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
    })
    .await
}

pub(crate) async fn annotate(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    asked: Body<Annotate>,
) -> Result<Json<RunSummary>, Refusal> {
    annotated(&app, &id, body(asked)?).await.map(Json)
}

pub(crate) async fn deleted(app: &Arc<App>, id: &str) -> Result<Deleted, Refusal> {
    change(app, id, |archive, id| Ok(archive.delete(id)?)).await
}

pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Deleted>, Refusal> {
    deleted(&app, &id).await.map(Json)
}

pub(crate) async fn restored(app: &Arc<App>, id: &str) -> Result<RunSummary, Refusal> {
    change(app, id, |archive, id| {
        archive.restore(id.as_str())?;
        line(archive, id)
    })
    .await
}

pub(crate) async fn restore(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<RunSummary>, Refusal> {
    restored(&app, &id).await.map(Json)
}

pub(crate) async fn list_deleted(app: &Arc<App>) -> Result<Vec<Deleted>, Refusal> {
    let archive = app.config.archive.clone();
    Ok(app.heavy(move || archive.deleted()).await??)
}

pub(crate) async fn trash(State(app): State<Arc<App>>) -> Result<Json<Vec<Deleted>>, Refusal> {
    list_deleted(&app).await.map(Json)
}

/// A run as one file, byte for byte as `assay archive export` writes it.
pub(crate) async fn bundle(
    State(app): State<Arc<App>>,
    Extension(role): Extension<Role>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    // It holds what pages leave out of runs of earlier versions.
    if role == Role::ReadOnly {
        return Err(read_only());
    }
    let state_dir = app.config.state_dir.clone();
    let (name, bytes) = change(&app, &id, move |archive, id| {
        let size: u64 = archive.files(id)?.iter().map(|(_, bytes)| bytes).sum();
        if size > MAX_FILE {
            return Err(Refusal::conflict(format!(
                "the run has {size} bytes; write it with `assay archive export {id} -o FILE`"
            )));
        }
        let name = format!("{id}.tar.zst");
        // One at a time: `heavy` sees to that.
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
    let headers =
        [(CONTENT_TYPE, "application/octet-stream".to_owned()), (CONTENT_DISPOSITION, disposition)];
    Ok((headers, bytes).into_response())
}

pub(crate) async fn searches(State(app): State<Arc<App>>) -> Json<Vec<SavedSearch>> {
    Json(app.searches.list())
}

pub(crate) async fn save_search(
    State(app): State<Arc<App>>,
    new: Body<SavedSearch>,
) -> Result<(StatusCode, Json<SavedSearch>), Refusal> {
    Ok((StatusCode::CREATED, Json(app.searches.save(body(new)?)?)))
}

/// The search that is meant.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    /// The name under which it was saved.
    pub name: String,
}

pub(crate) async fn forget_search(
    State(app): State<Arc<App>>,
    named: Body<Named>,
) -> Result<Json<Vec<SavedSearch>>, Refusal> {
    app.searches.forget(&body(named)?.name)?;
    Ok(Json(app.searches.list()))
}
