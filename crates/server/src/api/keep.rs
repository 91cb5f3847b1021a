//! What people do to runs of the archive: tags, notes, deleting, restoring, taking a run away whole; and the
//! searches that they saved.

use std::sync::Arc;

use assay_archive::Archive;
use assay_model::{Deleted, RunId, RunSummary};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::Deserialize;

use super::runs::{MAX_FILE, run_id};
use crate::app::App;
use crate::archive::searches::SavedSearch;
use crate::error::Refusal;
use crate::http::extract::{Answer, Body, Created, File, Server};
use crate::http::guard::may_write;
use crate::http::token::Role;

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

/// Does something to a run beside the thread that answers.
async fn change<T: Send + 'static>(
    app: &Arc<App>,
    id: &str,
    work: impl FnOnce(&Archive, &RunId) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let id = run_id(id)?;
    app.heavy(move |app| work(&app.config.archive, &id)).await
}

fn line(archive: &Archive, id: &RunId) -> Result<RunSummary, Refusal> {
    Ok(archive.annotated(archive.run(id)?.summary()?))
}

pub(crate) async fn annotate(
    State(app): Server,
    Path(id): Path<String>,
    Body(asked): Body<Annotate>,
) -> Answer<RunSummary> {
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

pub(crate) async fn delete(State(app): Server, Path(id): Path<String>) -> Answer<Deleted> {
    change(&app, &id, |archive, id| Ok(archive.delete(id)?)).await.map(Json)
}

pub(crate) async fn restore(State(app): Server, Path(id): Path<String>) -> Answer<RunSummary> {
    let restored = change(&app, &id, |archive, id| {
        archive.restore(id.as_str())?;
        line(archive, id)
    });
    restored.await.map(Json)
}

pub(crate) async fn trash(State(app): Server) -> Answer<Vec<Deleted>> {
    app.heavy(|app| Ok(app.config.archive.deleted()?)).await.map(Json)
}

/// A run as one file, byte for byte as `assay archive export` writes it.
pub(crate) async fn bundle(
    State(app): Server,
    Extension(role): Extension<Role>,
    Path(id): Path<String>,
) -> Result<File, Refusal> {
    // It holds what pages leave out of runs of earlier versions.
    may_write(role)?;
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
    let kind = "application/octet-stream".to_owned();
    Ok(([(CONTENT_TYPE, kind), (CONTENT_DISPOSITION, disposition)], bytes))
}

pub(crate) async fn searches(State(app): Server) -> Json<Vec<SavedSearch>> {
    Json(app.searches.list())
}

pub(crate) async fn save_search(
    State(app): Server,
    Body(new): Body<SavedSearch>,
) -> Created<SavedSearch> {
    Ok((StatusCode::CREATED, Json(app.searches.save(new)?)))
}

/// The search that is meant.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    /// The name under which it was saved.
    pub name: String,
}

pub(crate) async fn forget_search(
    State(app): Server,
    Body(named): Body<Named>,
) -> Answer<Vec<SavedSearch>> {
    app.searches.forget(&named.name)?;
    Ok(Json(app.searches.list()))
}
