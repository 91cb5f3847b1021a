//! What can go wrong when a server is started, and how a request is refused.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// A server that could not start or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// A file could not be read or written.
    #[error("{what} {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file of the state folder holds something else than it should.
    #[error("{path} cannot be used: {reason}; move it away to continue without it")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Another server has the queue.
    #[error(
        "{who} serves this queue already ({path}); stop it, or set ASSAY_STATE to another folder"
    )]
    Busy {
        /// The process.
        who: String,
        /// The lock.
        path: PathBuf,
    },
    /// The address could not be listened on.
    #[error("listen on {address}: {source}{}", listen_hint(source))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// A part of the server could not be started.
    #[error("start {what}: {source}")]
    Start {
        /// Which.
        what: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

/// What to do about an address that could not be listened on: empty where the system's own words
/// are all that is known.
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

/// A request that is answered with an error.
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

    /// Something of the server's own failed.
    pub fn own(error: &dyn std::fmt::Display) -> Self {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }

    pub fn json(&self) -> serde_json::Value {
        json!({ "error": { "status": self.status.as_u16(), "message": self.message } })
    }
}

impl IntoResponse for Refusal {
    /// A response of the status alone; the guard writes the refusal in it, as JSON or as a page.
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

/// The lab's error about a request: names, files and repositories are the client's to correct.
impl From<assay_lab::LabError> for Refusal {
    fn from(error: assay_lab::LabError) -> Self {
        Refusal::bad(error.to_string())
    }
}

/// The archive's error as an answer: what does not exist is the client's to correct.
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
