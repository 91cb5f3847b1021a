//! The pages. Each is complete without its script, but for what moves.

mod archive;
mod compare;
mod landscape;
mod live;
mod login;
mod observe;
mod queue;
mod run;
mod shell;

use std::sync::Arc;

use axum::Router;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use maud::html;

use crate::app::App;
use crate::assets;
use crate::error::Refusal;

pub(crate) use shell::{Place, shell};

/// A page, or why there is none.
pub(crate) type Page = Result<Html<String>, PageRefusal>;

/// A refusal that is shown as a page.
pub(crate) struct PageRefusal(Refusal);

impl From<Refusal> for PageRefusal {
    fn from(refusal: Refusal) -> Self {
        PageRefusal(refusal)
    }
}

impl IntoResponse for PageRefusal {
    fn into_response(self) -> Response {
        refusal(&self.0)
    }
}

/// A refusal as a page.
pub(crate) fn refusal(refusal: &Refusal) -> Response {
    let title = refusal.status.canonical_reason().unwrap_or("Refused");
    let body = html! {
        h1 { (title) }
        pre class="problem" { (refusal.message) }
        p { a href="/queue" { "To the queue" } }
    };
    (refusal.status, shell(title, Place::Elsewhere, &body)).into_response()
}

/// Leads to another page after a write.
pub(crate) fn see(path: &str) -> Response {
    let to = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/queue"));
    (StatusCode::SEE_OTHER, [(LOCATION, to)]).into_response()
}

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(|| async { see("/queue") }))
        .route("/login", get(login::form).post(login::sign_in))
        .route("/logout", post(login::sign_out))
        .route(
            "/assets/style.css",
            get(|| async { asset("text/css; charset=utf-8", assets::style()) }),
        )
        .route("/assets/charts.js", get(|| async { asset(SCRIPT, assets::CHARTS.to_owned()) }))
        .route("/assets/server.js", get(|| async { asset(SCRIPT, assets::server()) }))
        .route("/queue", get(queue::page))
        .route("/queue/part", get(queue::part))
        .route("/queue/new/{id}", get(queue::form).post(queue::submit))
        .route("/queue/{id}/cancel", post(queue::cancel))
        .route("/queue/{id}/resume", post(queue::resume))
        .route("/queue/{id}/move", post(queue::shift))
        .route("/live/{id}", get(live::page))
        .route("/runs/{id}", get(run::page))
        .route("/archive", get(archive::page))
        .route("/compare", get(compare::page))
        .route("/landscapes", get(landscape::list))
        .route("/landscapes/{name}", get(landscape::page))
        .route("/observe", get(observe::page))
        .route("/observe/io", get(observe::part))
        .fallback(|| async { refusal(&Refusal::not_found("there is no page of that name")) })
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

fn asset(kind: &'static str, text: String) -> Response {
    ([(CONTENT_TYPE, kind)], text).into_response()
}

/// A time as it is shown: UTC, whole seconds.
pub(crate) fn time(at: &str) -> maud::Markup {
    let short = at.split('.').next().unwrap_or(at).replace('T', " ");
    html! { time datetime=(at) { (short.trim_end_matches('Z')) " UTC" } }
}
