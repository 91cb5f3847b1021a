//! Errors of starting and running a server, and refusals of requests.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Error of starting or running a server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A file could not be read or written.
    #[error("{what} {path}: {source}")]
    Io {
        /// Operation that failed, such as `read`.
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// A file of the state folder has unexpected content.
    #[error("{path} cannot be used: {reason}; move the file away to continue without it")]
    Damaged { path: PathBuf, reason: String },
    /// Another server uses the queue.
    #[error(
        "{who} already serves this queue ({path}); stop it, or set ASSAY_STATE to another folder"
    )]
    Busy {
        /// Process that holds the lock.
        who: String,
        /// Path of the lock file.
        path: PathBuf,
    },
    /// The server could not listen on the address.
    #[error("listen on {address}: {source}{}", listen_hint(source))]
    Listen { address: SocketAddr, source: io::Error },
    /// A thread or the event loop of the server could not be started.
    #[error("start {what}: {source}")]
    Start { what: &'static str, source: io::Error },
}

/// Returns advice for an address that could not be listened on. Empty if only the system's error is
/// known.
fn listen_hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::AddrInUse => "; another program uses the port, choose one with --listen",
        io::ErrorKind::AddrNotAvailable => {
            "; this machine has no such address, choose one with --listen"
        }
        io::ErrorKind::PermissionDenied => {
            "; ports under 1024 need root, choose a higher one with --listen"
        }
        _ => "",
    }
}

impl ServeError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| ServeError::Io { what, path, source }
    }
}

/// Result of handling a request.
pub(crate) type Result<T, E = Refusal> = std::result::Result<T, E>;

/// Refusal of a request: the status and message of the error response.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub status: StatusCode,
    pub message: String,
}

impl Refusal {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Refusal { status, message: message.into() }
    }

    pub fn bad(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::BAD_REQUEST, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::NOT_FOUND, message)
    }

    pub fn conflict(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::CONFLICT, message)
    }

    pub fn forbidden(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::FORBIDDEN, message)
    }

    /// Refuses with status 500, for errors of the server itself.
    pub fn own(error: &dyn std::fmt::Display) -> Self {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }

    pub fn json(&self) -> serde_json::Value {
        json!({ "error": { "status": self.status.as_u16(), "message": self.message } })
    }
}

impl IntoResponse for Refusal {
    /// Returns a response with only the status. The guard adds the body, as JSON or as a page.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<ServeError> for Refusal {
    fn from(error: ServeError) -> Self {
        Refusal::own(&error)
    }
}

/// Maps every error of the lab to status 400: names, files and repositories are the client's to
/// correct.
impl From<assay_lab::LabError> for Refusal {
    fn from(error: assay_lab::LabError) -> Self {
        Refusal::bad(error.to_string())
    }
}

/// Maps errors of the archive to status codes. Missing runs, wrong ids and conflicts are the
/// client's to correct; other errors are the server's.
impl From<assay_archive::Error> for Refusal {
    fn from(error: assay_archive::Error) -> Self {
        use assay_archive::Error as E;
        match error {
            E::NoRun { .. } | E::NotDeleted { .. } => Refusal::not_found(error.to_string()),
            E::Ambiguous { .. } | E::Note { .. } => Refusal::bad(error.to_string()),
            E::Busy { .. } | E::Exists { .. } => Refusal::conflict(error.to_string()),
            _ => Refusal::own(&error),
        }
    }
}
