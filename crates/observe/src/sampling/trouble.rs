//! Reasons why a monitor cannot read something, each recorded once.

use std::io;
use std::path::Path;

/// Reason why something is not available: a sentence that names the object and a remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NotAvailable {
    /// Reason as a sentence for a person.
    pub reason: String,
}

impl NotAvailable {
    /// Creates an error with this reason.
    pub fn because(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }

    /// Creates the error for a file that could not be opened or read.
    pub fn file(path: &Path, error: &io::Error) -> Self {
        let path = path.display();
        Self::because(match error.kind() {
            io::ErrorKind::NotFound => format!("{path} does not exist"),
            io::ErrorKind::PermissionDenied if rustix::process::geteuid().is_root() => {
                format!("root cannot read {path} here: {error}")
            }
            io::ErrorKind::PermissionDenied => {
                format!("this user cannot read {path}; run as root")
            }
            io::ErrorKind::Unsupported => format!("{path} is switched off in this kernel"),
            _ => format!("cannot read {path}: {error}"),
        })
    }
}

/// Reasons recorded so far, by key.
#[derive(Debug, Default)]
pub struct Trouble {
    causes: Vec<(&'static str, String)>,
}

impl Trouble {
    /// Records a reason under a key. If the key already has one, that one stays, and `sentence` is
    /// not called.
    pub fn note(&mut self, key: &'static str, sentence: impl FnOnce() -> String) {
        if self.causes.iter().all(|(known, _)| *known != key) {
            self.causes.push((key, sentence()));
        }
    }

    /// Returns the opened file; a failure is recorded under a key.
    pub fn opened<T>(&mut self, key: &'static str, opened: Result<T, NotAvailable>) -> Option<T> {
        opened.map_err(|error| self.note(key, || error.reason)).ok()
    }

    /// Returns the recorded reasons as sentences.
    pub fn sentences(&self) -> Vec<String> {
        self.causes.iter().map(|(_, sentence)| sentence.clone()).collect()
    }
}
