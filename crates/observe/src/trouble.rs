//! What a monitor could not see while it ran: each cause once, however often it happens.

use std::io;
use std::path::Path;

use crate::NotAvailable;

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

    /// Notes that a file could not be read.
    pub fn unreadable(&mut self, key: &'static str, path: &Path, error: &io::Error) {
        self.note(key, || NotAvailable::file(path, error).to_string());
    }

    /// The causes as sentences.
    pub fn sentences(&self) -> Vec<String> {
        self.causes.iter().map(|(_, sentence)| sentence.clone()).collect()
    }
}
