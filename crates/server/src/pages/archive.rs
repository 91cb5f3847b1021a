//! Archive page: search, order, paging, and actions on runs.

use assay_model::Deleted;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::archive_rows::{rows, told};
use super::archive_search::{address, filters};
use super::{Led, Page, Section, see, shell, time};
use crate::api::keep;
use crate::api::runs::Asked;
use crate::archive::searches::SavedSearch;
use crate::http::extract::{Ask, Body, Sent, Server};
use crate::http::token::Role;

pub(super) async fn page(
    State(app): Server,
    Extension(role): Extension<Role>,
    Ask(asked): Ask<Asked>,
) -> Page {
    let (found, said) = told(&app, asked.clone()).await?;
    let deleted = keep::trash(State(app.clone())).await?.0;
    let full = role == Role::Full;
    let pages = found.total.div_ceil(found.limit).max(1);
    let here = address(&asked, found.page);
    let body = html! {
        h1 { "Archive" }
        (trash(&deleted, &here, full))
        (filters(&asked, &app.searches.list(), &found.runs, full))
        p role="status" { (found.total) @if found.total == 1 { " run" } @else { " runs" } ", page " (found.page) " of " (pages) }
        @if !found.runs.is_empty() {
            form method="get" action="/compare" id="compare" class="actions" { button type="submit" { "Compare the chosen runs" } }
            (rows(&found.runs, &said, full.then_some(&*here), ""))
        }
        nav aria-label="Pages" {
            ul {
                @if found.page > 1 { li { a rel="prev" href=(address(&asked, found.page - 1)) { "Previous page" } } }
                @if found.page < pages { li { a rel="next" href=(address(&asked, found.page + 1)) { "Next page" } } }
            }
        }
    };
    Ok(shell("Archive", Section::Archive, &body))
}

/// Renders the deleted runs that can be restored.
fn trash(deleted: &[Deleted], here: &str, full: bool) -> Markup {
    html! {
        @if !deleted.is_empty() {
            details class="trash" open[deleted.len() <= 3] {
                summary { (deleted.len()) @if deleted.len() == 1 { " deleted run" } @else { " deleted runs" } " can be restored until the day (UTC) ends" }
                ul class="plain-list" {
                    @for d in deleted {
                        li {
                            strong { (d.experiment) } " " span class="soft" { (d.run) ", deleted " (time(&d.deleted_at)) ", until " (time(&d.until)) }
                            @if full {
                                form method="post" action={ "/archive/" (d.run) "/restore" } {
                                    input type="hidden" name="back" value=(here);
                                    button type="submit" aria-label={ "Restore " (d.experiment) ", run " (d.run) } { "Restore" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Fields of the forms of the archive's pages. Each form sends some of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Fields {
    /// Address of the page that sent the form.
    back: String,
    tags: String,
    /// Added tags that the run had when the page was rendered.
    tags_before: String,
    note: String,
    name: String,
}

/// Redirects to the page that sent the form, if it is a page of the archive.
fn back(fields: &Fields) -> Response {
    let own = fields.back.starts_with("/archive?") || fields.back == "/archive";
    see(if own { &fields.back } else { "/archive" })
}

fn words(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned).collect()
}

pub(super) async fn annotate(app: Server, id: Path<String>, Sent(sent): Sent<Fields>) -> Led {
    let add_tags = words(&sent.tags);
    let mut remove_tags = words(&sent.tags_before);
    remove_tags.retain(|tag| !add_tags.contains(tag));
    let asked = keep::Annotate { add_tags, remove_tags, note: Some(sent.note.clone()) };
    keep::annotate(app, id, Body(asked)).await.map(|_| back(&sent))
}

pub(super) async fn delete(app: Server, id: Path<String>, Sent(sent): Sent<Fields>) -> Led {
    keep::delete(app, id).await.map(|_| back(&sent))
}

pub(super) async fn restore(app: Server, id: Path<String>, Sent(sent): Sent<Fields>) -> Led {
    keep::restore(app, id).await.map(|_| back(&sent))
}

/// Form that saves a search: its name, and the query parameters.
#[derive(Debug, Deserialize)]
pub(super) struct Saved {
    name: String,
    #[serde(flatten)]
    search: Asked,
}

pub(super) async fn save_search(State(app): Server, Sent(saved): Sent<Saved>) -> Led {
    let Saved { name, search } = saved;
    let saved = app.searches.save(SavedSearch { name, search })?;
    Ok(see(&address(&saved.search, 1)))
}

pub(super) async fn forget_search(State(app): Server, Sent(sent): Sent<Fields>) -> Led {
    app.searches.forget(&sent.name)?;
    Ok(back(&sent))
}
