//! Pages of the web UI: a file each, with its routes, its data and its template. Each works without
//! its script, except for the live charts.

mod archive;
mod assets;
mod compare;
mod fields;
mod history;
mod landscape;
mod live;
mod login;
mod machine;
mod observe;
mod queue;
mod response;
mod run;
mod run_list;
mod shell;
mod submit;

use axum::routing::{get, post};

use crate::app::Routes;
use crate::error::Refusal;

pub(crate) use response::{
    PageResult, RedirectResult, age, percent_encode, redirect, refusal, time, url,
};
pub(crate) use shell::{Section, choice, document, shell};
pub(crate) use submit::PLAN;

pub(crate) fn router() -> Routes {
    Routes::new()
        .merge(archive::router())
        .merge(assets::router())
        .merge(compare::router())
        .merge(history::router())
        .merge(landscape::router())
        .merge(live::router())
        .merge(login::router())
        .merge(machine::router())
        .merge(observe::router())
        .merge(queue::router())
        .merge(run::router())
        .merge(submit::router())
        .fallback(|| async { Refusal::not_found("there is no such page") })
}
