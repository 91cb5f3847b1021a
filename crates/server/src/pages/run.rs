//! Run page: the report of a run as it is published, and the run's files.

use assay_model::units::format_value;
use maud::html;

use super::{PageResult, Section, document, get};
use crate::api::runs::{list_files, run_id};
use crate::app::{Routes, Server};
use crate::http::extract::{Path, State};

pub(super) fn router() -> Routes {
    Routes::new().route("/runs/{id}", get(page))
}

async fn page(State(app): Server, Path(id): Path<String>) -> PageResult {
    let id = run_id(&id)?;
    let view = app.view(id.clone()).await?;
    let page = app.heavy(move |app| {
        let files = list_files(app, &id)?;
        let shown = files.iter().take(200);
        let list = html! {
            section id="run-files" aria-labelledby="files-heading" {
                h2 id="files-heading" { "Files" }
                ul.files { @for (line, _) in shown { li {
                    a href={ "/api/v1/runs/" (id) "/files/" (line.number) } { (line.name) }
                    " " span.soft { (format_value(line.bytes as f64, "B")) }
                } } }
                @if files.len() > 200 { p {
                    (files.len() - 200) " more; " code { "assay archive export " (id) }
                    " exports all of them as one file."
                } }
            }
        };
        let body = html! {
            nav.actions aria-label="This run" {
                a.button href={ "/compare?runs=" (id) } { "Compare with another run" }
                " " a.button href={ "/api/v1/runs/" (id) } { "JSON" }
            }
            (assay_report::page::content(&view, Some(("files", "Files", list))))
        };
        Ok(document(app, view.title(), Section::Archive, &body))
    });
    page.await
}
