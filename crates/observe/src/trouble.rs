//! Causes for which a monitor cannot see something, each noted once.

use std::io;
use std::path::Path;

/// Why a monitor cannot see something: a sentence that names the thing and what would help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NotAvailable {
    /// The sentence.
    pub reason: String,
}

impl NotAvailable {
    /// The reason as given.
    pub fn because(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }

    /// The reason for which a file could not be opened or read.
    pub fn file(path: &Path, error: &io::Error) -> Self {
        let path = path.display();
        Self::because(match error.kind() {
            io::ErrorKind::NotFound => format!("{path} is not there"),
            io::ErrorKind::PermissionDenied => {
                format!("{path} may not be read by this user; run as root")
            }
            io::ErrorKind::Unsupported => format!("{path} is switched off in this kernel"),
            _ => format!("{path} could not be read: {error}"),
        })
    }
}

/// The causes so far.
#[derive(Debug, Default)]
pub struct Trouble {
    causes: Vec<(&'static str, String)>,
}

impl Trouble {
    /// Notes a cause under a key; what is already noted under that key stays, and `sentence` is not
    /// asked for.
    pub fn note(&mut self, key: &'static str, sentence: impl FnOnce() -> String) {
        if self.causes.iter().all(|(known, _)| *known != key) {
            self.causes.push((key, sentence()));
        }
    }

    /// Returns the opened file; a failure is noted under a key.
    pub fn opened<T>(&mut self, key: &'static str, opened: Result<T, NotAvailable>) -> Option<T> {
        opened.map_err(|error| self.note(key, || error.reason)).ok()
    }

    /// The causes as sentences.
    pub fn sentences(&self) -> Vec<String> {
        self.causes.iter().map(|(_, sentence)| sentence.clone()).collect()
    }
}
