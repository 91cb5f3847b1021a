//! Middleware in front of all handlers. It checks the host name, the sender's request rate, the
//! token or session and the origin of writes, limits the time of a response, and sets the headers
//! of every response.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, ORIGIN,
    REFERRER_POLICY, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::api::metrics::METRICS;
use crate::app::App;
use crate::config::Config;
use crate::error::Refusal;
use crate::http::net::Peer;
use crate::http::rate::Sender;
use crate::http::sessions::cookies;
use crate::http::token::Role;
use crate::pages;

/// Time limit for receiving the body of a request, whatever length it claims.
const MAX_BODY_TIME: Duration = Duration::from_secs(10);
/// Maximum size of a request's body, in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// Path of the sign-in page.
const LOGIN: &str = "/login";

const CONTENT_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
    img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'";

/// Checks a request before its handler, and sets the headers of the response. Writes the body of a
/// refusal.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let mut response = handle(&app, request, next).await.into_response();
    if let Some(refusal) = response.extensions_mut().remove::<Refusal>() {
        response = refusal_response(&app, &path, &refusal);
    }
    set_headers(response.headers_mut());
    response
}

async fn handle(app: &App, request: Request, next: Next) -> Result<Response, Refusal> {
    let role = authorize(app, &request)?;
    if role.is_some()
        && let Some(peer) = request.extensions().get::<Peer>()
    {
        peer.connection.set_authenticated();
    }
    let mut request = if is_read(request.method()) { request } else { with_body(request).await? };
    // A request without a role reaches only paths that are open to all.
    request.extensions_mut().insert(role.unwrap_or(Role::ReadOnly));
    let limit = app.config.response_time;
    tokio::time::timeout(limit, next.run(request)).await.map_err(|_| {
        let message = format!("no response within {} s", limit.as_secs());
        Refusal::new(StatusCode::GATEWAY_TIMEOUT, message)
    })
}

/// Returns the request with its complete body. Refuses a body that is too large or too slow.
async fn with_body(request: Request) -> Result<Request, Refusal> {
    let too_large = || {
        let message = format!("the request is larger than {} KiB", MAX_BYTES >> 10);
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    };
    let (parts, body) = request.into_parts();
    // A body that claims to be larger is refused at once.
    if body.size_hint().lower() > MAX_BYTES as u64 {
        return Err(too_large());
    }
    match tokio::time::timeout(MAX_BODY_TIME, axum::body::to_bytes(body, MAX_BYTES)).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(parts, Body::from(bytes))),
        Ok(Err(e)) if e.to_string().contains("length limit") => Err(too_large()),
        Ok(Err(_)) => Err(Refusal::bad("the body is shorter than its Content-Length")),
        Err(_) => {
            let message = "the body did not arrive within 10 s; check its Content-Length";
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, message))
        }
    }
}

/// Returns true if programs request the path, which get refusals as JSON and no sign-in page.
fn is_for_programs(path: &str) -> bool {
    path.starts_with("/api/") || path == METRICS
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn refusal_response(app: &App, path: &str, refusal: &Refusal) -> Response {
    if refusal.status == StatusCode::SEE_OTHER {
        return pages::redirect(LOGIN);
    }
    let script = is_for_programs(path) || path == pages::PLAN;
    let mut response = if script {
        (refusal.status, axum::Json(refusal.json())).into_response()
    } else {
        pages::refusal(app, refusal)
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

/// Returns the role of the sender, or `None` for a request without a token for a path that is open
/// to all.
fn authorize(app: &App, request: &Request) -> Result<Option<Role>, Refusal> {
    let headers = request.headers();
    let host = host_of(&app.config, headers)?;
    let peer = request.extensions().get::<Peer>();
    let peer = peer.map_or(IpAddr::from([0, 0, 0, 0]), |p| p.address);
    let now = Instant::now();
    let path = request.uri().path();
    let open = path == LOGIN || path.starts_with("/assets/");
    let by_header = role_of_header(app, headers, peer, now);
    let by_cookie = || cookies(headers).find_map(|c| app.sessions.role_of(c));
    let role = by_header.as_ref().map_or(None, |role| role.or_else(by_cookie));
    let sender = if role.is_some() { Sender::Authenticated } else { Sender::Anonymous };
    if !app.rates.allows(peer, sender, now) {
        let message = "too many requests from this address; try again in a few seconds";
        return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, message));
    }
    let by_header = by_header?;
    if role.is_none() && !open {
        if !is_for_programs(path) && request.method() == Method::GET {
            // A browser without a session requests a page: redirect to the sign-in page.
            return Err(Refusal::new(StatusCode::SEE_OTHER, LOGIN));
        }
        let message = "no token: send `Authorization: Bearer TOKEN`";
        return Err(Refusal::new(StatusCode::UNAUTHORIZED, message));
    }
    if !is_read(request.method()) {
        // A page of another site can make a browser send its cookie and a form, but not an
        // `Authorization` header.
        if by_header.is_none() {
            same_origin(headers, host)?;
        }
        if !["/login", "/logout"].contains(&path) {
            role.map_or(Ok(()), Role::may_write)?;
        }
    }
    Ok(role)
}

/// Returns the host name that the request was sent to. Refuses names that are not the server's own:
/// another site may use one to make a browser talk to this server (DNS rebinding).
fn host_of<'a>(config: &Config, headers: &'a HeaderMap) -> Result<&'a str, Refusal> {
    let wrong = |why: &str| Refusal::new(StatusCode::MISDIRECTED_REQUEST, why);
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next().and_then(|h| h.to_str().ok()), hosts.next()) else {
        return Err(wrong("a request needs exactly one Host header"));
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
        Err(wrong("unknown host name; start the server with --host NAME to allow it"))
    }
}

/// Returns the role of the token in the `Authorization` header, or `None` without that header. A
/// wrong token is an error.
fn role_of_header(
    app: &App,
    headers: &HeaderMap,
    peer: IpAddr,
    now: Instant,
) -> Result<Option<Role>, Refusal> {
    let Some(given) = headers.get(AUTHORIZATION) else { return Ok(None) };
    let token = given.to_str().ok().and_then(|t| {
        let (scheme, token) = t.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    // A correct token is accepted whatever the rate of wrong ones. Otherwise anyone behind the same
    // address could lock its owner out.
    if let Some(role) = token.and_then(|t| app.tokens.role_of(t)) {
        return Ok(Some(role));
    }
    if !app.rates.allows(peer, Sender::Mistaken, now) {
        let message = "too many wrong tokens from this address; try again in a minute";
        return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, message));
    }
    Err(Refusal::new(StatusCode::UNAUTHORIZED, "wrong token"))
}

fn same_origin(headers: &HeaderMap, host: &str) -> Result<(), Refusal> {
    let origin = headers.get(ORIGIN).and_then(|o| o.to_str().ok());
    let from = origin.and_then(|o| o.split_once("://")).map(|(_, from)| from);
    if from.is_some_and(|from| from.eq_ignore_ascii_case(host)) {
        Ok(())
    } else {
        Err(Refusal::forbidden(
            "the request is not from a page of this server; scripts send the token in a header",
        ))
    }
}

fn set_headers(headers: &mut HeaderMap) {
    const FIXED: [(HeaderName, &str); 7] = [
        (CONTENT_SECURITY_POLICY, CONTENT_POLICY),
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
