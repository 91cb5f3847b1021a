//! What answers a request for a page: the page, a refusal as one, or the way to another.

use axum::http::header::LOCATION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use maud::html;

use super::{Section, shell};
use crate::error::Refusal;

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
    (refusal.status, shell(title, Section::Elsewhere, &body)).into_response()
}

/// Leads to another page after a write.
pub(crate) fn see(path: &str) -> Response {
    let to = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/queue"));
    (StatusCode::SEE_OTHER, [(LOCATION, to)]).into_response()
}

/// A time as it is shown: UTC, whole seconds.
pub(crate) fn time(at: &str) -> maud::Markup {
    let short = at.split('.').next().unwrap_or(at).replace('T', " ");
    html! { time datetime=(at) { (short.trim_end_matches('Z')) " UTC" } }
}
