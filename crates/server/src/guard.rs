//! What stands before every request: the name it was sent to, how often its sender asks, the token,
//! where a write comes from, and how long an answer may take. And the headers of every answer.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderName, LOCATION,
    ORIGIN, REFERRER_POLICY, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::config::Config;
use crate::error::Refusal;
use crate::net::Peer;
use crate::{pages, token};

/// An answer is begun within this time.
const ANSWER: Duration = Duration::from_secs(60);

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The middleware.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let mut response = match admit(&app, &request) {
        Ok(()) => match tokio::time::timeout(ANSWER, next.run(request)).await {
            Ok(response) => response,
            Err(_) => answer(
                &path,
                &Refusal::new(StatusCode::GATEWAY_TIMEOUT, "the answer took more than 60 s"),
            ),
        },
        Err(Refused::To(refusal)) => answer(&path, &refusal),
        Err(Refused::Login) => (StatusCode::SEE_OTHER, [(LOCATION, "/login")]).into_response(),
    };
    head(response.headers_mut());
    response
}

enum Refused {
    To(Refusal),
    /// A person without a token, who wants to see a page.
    Login,
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Refused::To(refusal)
    }
}

fn answer(path: &str, refusal: &Refusal) -> Response {
    let mut response = if path.starts_with("/api/") {
        (refusal.status, axum::Json(refusal.json())).into_response()
    } else {
        pages::refusal(refusal)
    };
    let headers = response.headers_mut();
    if refusal.status == StatusCode::UNAUTHORIZED {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if refusal.status == StatusCode::TOO_MANY_REQUESTS {
        headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
    }
    response
}

fn admit(app: &App, request: &Request) -> Result<(), Refused> {
    let headers = request.headers();
    let host = host_of(&app.config, headers)?;
    let peer = request.extensions().get::<Peer>().map_or(IpAddr::from([0, 0, 0, 0]), |p| p.0);
    let now = Instant::now();
    if !app.rates.allows(peer, now) {
        let message = "too many requests from this address; wait a little";
        return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, message).into());
    }
    let path = request.uri().path();
    let open = path == "/login" || path.starts_with("/assets/");
    let by_header = authorized(app, headers, peer, now)?;
    if !by_header && !open && !by_cookie(app, headers) {
        if !path.starts_with("/api/") && request.method() == Method::GET {
            return Err(Refused::Login);
        }
        let message = "a token is needed: `Authorization: Bearer TOKEN`";
        return Err(Refusal::new(StatusCode::UNAUTHORIZED, message).into());
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    // Another site's page can make a browser send its cookie, and a form, but not a header of ours.
    if !reads && !by_header {
        same_origin(headers, host)?;
    }
    Ok(())
}

/// The name that the request was sent to. Another name than the server's own may be a trick to make a
/// browser talk to it for another site.
fn host_of<'a>(config: &Config, headers: &'a HeaderMap) -> Result<&'a str, Refusal> {
    let wrong = |why: &str| Refusal::new(StatusCode::MISDIRECTED_REQUEST, why);
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next().and_then(|h| h.to_str().ok()), hosts.next()) else {
        return Err(wrong("a request has one Host header"));
    };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let known = bare.parse::<IpAddr>().is_ok()
        || bare.eq_ignore_ascii_case("localhost")
        || config.hosts.iter().any(|h| h.eq_ignore_ascii_case(bare));
    if known {
        Ok(host)
    } else {
        Err(wrong("this server does not go by that name; name it with --host NAME"))
    }
}

/// Whether the header gives the token; a wrong one is an answer, not a no.
fn authorized(app: &App, headers: &HeaderMap, peer: IpAddr, now: Instant) -> Result<bool, Refusal> {
    let Some(given) = headers.get(AUTHORIZATION) else { return Ok(false) };
    let token = given.to_str().ok().and_then(|t| {
        let (scheme, token) = t.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    // The right one is never refused: else anybody behind the same address could lock its owner out.
    if token.is_some_and(|t| app.token.is(t)) {
        return Ok(true);
    }
    if !app.rates.may_try(peer, now) {
        let message = "too many wrong tokens from this address; wait a minute";
        return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, message));
    }
    app.rates.was_wrong(peer, now);
    Err(Refusal::new(StatusCode::UNAUTHORIZED, "that is not the token"))
}

fn by_cookie(app: &App, headers: &HeaderMap) -> bool {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|c| c.to_str().ok())
        .flat_map(|c| c.split(';'))
        .filter_map(|c| c.trim().split_once('='))
        .any(|(name, value)| name == token::COOKIE && app.token.is_cookie(value))
}

fn same_origin(headers: &HeaderMap, host: &str) -> Result<(), Refusal> {
    let origin = headers.get(ORIGIN).and_then(|o| o.to_str().ok());
    let from = origin.and_then(|o| o.split_once("://")).map(|(_, from)| from);
    if from.is_some_and(|from| from.eq_ignore_ascii_case(host)) {
        Ok(())
    } else {
        Err(Refusal::forbidden(
            "this was not sent from a page of this server; a script sends the token as a header",
        ))
    }
}

fn head(headers: &mut HeaderMap) {
    const FIXED: [(HeaderName, &str); 7] = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
    ];
    for (name, value) in FIXED {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}
