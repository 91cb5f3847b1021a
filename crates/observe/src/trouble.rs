//! What a monitor could not see while it ran: each cause once, however often it happens.

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

    /// What could be opened; why it could not is noted under a key.
    pub fn opened<T>(&mut self, key: &'static str, opened: Result<T, NotAvailable>) -> Option<T> {
        opened.map_err(|error| self.note(key, || error.reason)).ok()
    }

    /// The causes as sentences.
    pub fn sentences(&self) -> Vec<String> {
        self.causes.iter().map(|(_, sentence)| sentence.clone()).collect()
    }
}
