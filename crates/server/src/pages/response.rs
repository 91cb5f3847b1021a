//! Responses to requests for pages: a page, a refusal as a page, or a redirect.

use std::fmt::Write as _;

use axum::http::header::LOCATION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use maud::html;

use super::{Section, shell};
use crate::app::App;
use crate::error::Refusal;

/// HTML page, or a refusal.
pub(crate) type PageResult = Result<Html<String>, Refusal>;
/// Redirect after a write, or a refusal.
pub(crate) type RedirectResult = Result<Response, Refusal>;

/// Renders a refusal as a page.
pub(crate) fn refusal(app: &App, refusal: &Refusal) -> Response {
    let title = refusal.status.canonical_reason().unwrap_or("Refused");
    let body = html! {
        h1 { (title) }
        pre.problem { (refusal.message) }
        p { a href="/queue" { "Go to the queue" } }
    };
    (refusal.status, shell(app, title, Section::Elsewhere, &body)).into_response()
}

/// Redirects to another page after a write.
pub(crate) fn redirect(path: &str) -> Response {
    let to = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/queue"));
    (StatusCode::SEE_OTHER, [(LOCATION, to)]).into_response()
}

/// Returns `path` with the `values` that are not empty as query parameters.
pub(crate) fn url<'a>(path: &str, values: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut address = path.to_owned();
    for (name, value) in values.into_iter().filter(|(_, value)| !value.is_empty()) {
        let mark = if address.contains('?') { '&' } else { '?' };
        let _ = write!(address, "{mark}{name}={}", percent_encode(value));
    }
    address
}

/// Percent-encodes a value of a query parameter.
pub(crate) fn percent_encode(text: &str) -> String {
    text.bytes()
        .map(|b| match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(b).to_string()
            }
            _ => format!("%{b:02X}"),
        })
        .collect()
}

/// Renders a time: UTC, in whole seconds.
pub(crate) fn time(at: &str) -> maud::Markup {
    let short = at.split('.').next().unwrap_or(at).replace('T', " ");
    html! { time datetime=(at) { (short.trim_end_matches('Z')) " UTC" } }
}

/// Renders the age of a time, with the time itself as a tooltip.
pub(crate) fn age(at: &str) -> maud::Markup {
    let age = assay_report::terminal::age(at, std::time::SystemTime::now());
    html! { time datetime=(at) title=(at) { (age) " ago" } }
}
