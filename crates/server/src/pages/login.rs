//! Sign-in page. The token is given once, in a form; then the browser holds a cookie that scripts
//! cannot read and other sites cannot use.

use std::net::IpAddr;
use std::time::Instant;

use axum::extract::Form;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, extract::rejection::FormRejection};
use maud::{Markup, html};
use serde::Deserialize;

use super::{RedirectResult, Section, get, post, redirect, shell};
use crate::app::{App, Routes, Server};
use crate::error::ServeError;
use crate::http::extract::State;
use crate::http::net::Peer;
use crate::http::rate::Sender;
use crate::http::sessions::{COOKIE, LIFETIME_S, cookies};

fn body(problem: &str) -> Markup {
    html! {
        h1 { "Sign in to assay" }
        p.lede { "assay runs, compares and publishes system benchmarks. This server has the \
            queue, the archive and the live runs of one machine." }
        @if !problem.is_empty() { p.notice role="alert" { (problem) } }
        form method="post" action="/login" class="fields" id="login" {
            // Password managers need a user name.
            input type="text" name="user" value="assay" autocomplete="username" hidden;
            div.field {
                label for="token" { "Token" }
                input id="token" name="token" type="password" autocomplete="current-password"
                    required;
                p.soft { "The server printed the token at its start. It is also in the file "
                    code { "serve.token" } " of the state folder; the token in "
                    code { "serve.read-token" } " is read-only." }
            }
            button type="submit" { "Sign in" }
        }
    }
}

pub(super) fn router() -> Routes {
    Routes::new().route("/login", get(form).post(sign_in)).route("/logout", post(sign_out))
}

async fn form(State(app): Server) -> Response {
    shell(&app, "Sign in", Section::Outside, &body("")).into_response()
}

#[derive(Deserialize)]
struct LoginForm {
    token: String,
}

async fn sign_in(
    State(app): Server,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    form: Result<Form<LoginForm>, FormRejection>,
) -> Response {
    let peer = peer.map_or(IpAddr::from([0, 0, 0, 0]), |Extension(peer)| peer.address);
    let refuse = |status: StatusCode, problem: &str| {
        (status, shell(&app, "Sign in", Section::Outside, &body(problem))).into_response()
    };
    let role = form.ok().and_then(|Form(form)| app.tokens.role_of(form.token.trim()));
    let Some(role) = role else {
        if !app.rates.allows(peer, Sender::Mistaken, Instant::now()) {
            let problem = "Too many wrong tokens from this address; try again in a minute.";
            return refuse(StatusCode::TOO_MANY_REQUESTS, problem);
        }
        return refuse(StatusCode::UNAUTHORIZED, "Wrong token.");
    };
    // Signing in again replaces the earlier session.
    if end(&app, &headers).is_err() {
        let problem =
            "The previous session could not be ended: the state folder cannot be written.";
        return refuse(StatusCode::INTERNAL_SERVER_ERROR, problem);
    }
    match app.sessions.begin(role, &app.tokens) {
        Ok(value) => with_cookie(redirect("/queue"), &value, LIFETIME_S),
        Err(e) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &e.to_string()),
    }
}

fn end(app: &App, headers: &HeaderMap) -> Result<(), ServeError> {
    cookies(headers).try_for_each(|cookie| app.sessions.end(cookie))
}

async fn sign_out(State(app): Server, headers: HeaderMap) -> RedirectResult {
    end(&app, &headers)?;
    Ok(with_cookie(redirect("/login"), "", 0))
}

fn with_cookie(mut response: Response, value: &str, age: i64) -> Response {
    let cookie = format!("{COOKIE}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}
