//! Pages of the web UI. Each works without its script, except for the live charts.

mod archive;
mod assets;
mod compare;
mod fields;
mod history;
mod landscape;
mod live;
mod login;
mod observe;
mod queue;
mod response;
mod run;
mod run_list;
mod shell;
mod submit;

use std::sync::Arc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::app::App;
use crate::error::Refusal;
use crate::http::guard::PLAN;

pub(crate) use response::{Led, Page, address, ago, encode, refusal, see, time};

pub(crate) use shell::{Section, shell};

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
        .route("/queue/new", get(submit::start).post(submit::submit))
        .route(PLAN, post(submit::live_plan))
        .route("/queue/new/{id}", get(submit::experiment))
        .route("/queue/{id}/cancel", get(queue::ask_cancel).post(queue::cancel))
        .route("/queue/{id}/resume", post(queue::resume))
        .route("/queue/{id}/move", post(queue::shift))
        .route("/live/{id}", get(live::page))
        .route("/live/{id}/profile", get(live::profile))
        .route("/runs/{id}", get(run::page))
        .route("/archive", get(archive::page))
        .route("/archive/{id}/annotate", post(archive::annotate))
        .route("/archive/{id}/delete", post(archive::delete))
        .route("/archive/{id}/restore", post(archive::restore))
        .route("/archive/searches", post(archive::save_search))
        .route("/archive/searches/forget", post(archive::forget_search))
        .route("/compare", get(compare::page))
        .route("/history", get(history::list))
        .route("/history/imported/{name}", get(history::imported))
        .route("/history/{id}", get(history::page))
        .route("/history/{id}/confirm", post(history::confirm))
        .route("/history/{id}/acknowledge", post(history::acknowledge))
        .route("/history/{id}/reset", post(history::reset))
        .route("/landscapes", get(landscape::list))
        .route("/landscapes/{name}", get(landscape::page))
        .route("/observe", get(observe::page))
        .route("/observe/io", get(observe::part))
        .fallback(|| async { Refusal::not_found("there is no page of that name") })
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

fn asset(kind: &'static str, text: String) -> Response {
    ([(CONTENT_TYPE, kind)], text).into_response()
}
