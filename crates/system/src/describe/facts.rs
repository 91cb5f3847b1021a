//! Collects facts under their paths while a description is made.

use std::collections::BTreeMap;

use assay_model::Fact;

use crate::Root;
use crate::read::root::Unreadable;

/// The facts found so far, and the root from which they are read.
pub(crate) struct Facts<'a> {
    pub root: &'a Root,
    map: BTreeMap<String, Fact>,
}

impl<'a> Facts<'a> {
    pub fn new(root: &'a Root) -> Self {
        Facts { root, map: BTreeMap::new() }
    }

    fn add(&mut self, path: impl Into<String>, fact: Fact) {
        self.map.insert(path.into(), fact);
    }

    /// Adds a fact with its value.
    pub fn set(&mut self, path: impl Into<String>, value: impl Into<String>) {
        self.add(path, Fact::known(value));
    }

    /// Adds an unknown fact with the reason.
    pub fn unknown(&mut self, path: impl Into<String>, reason: impl Into<String>) {
        self.add(path, Fact::unknown(reason));
    }

    /// True if the fact is there, known or not.
    pub fn has(&self, path: &str) -> bool {
        self.map.contains_key(path)
    }

    /// Adds a fact that was read, or the reason why it could not be read.
    pub fn put(&mut self, path: impl Into<String>, value: Result<String, Unreadable>) {
        match value {
            Ok(value) => self.set(path, value),
            Err(e) => self.unknown(path, e.to_string()),
        }
    }

    /// Adds the text of a file, joined to one line.
    pub fn file(&mut self, path: impl Into<String>, file: &str) {
        self.add(path, self.root.fact(file));
    }

    /// Like [`Facts::file`], but adds nothing if the file does not exist: for facts of optional
    /// hardware or kernel features.
    pub fn file_if_there(&mut self, path: impl Into<String>, file: &str) {
        if self.root.exists(file) {
            self.file(path, file);
        }
    }

    /// Adds the selected word of a file such as `always [madvise] never`.
    pub fn choice(&mut self, path: impl Into<String>, file: &str) {
        let text = self.root.text(file).map(|t| selected(&t).to_owned());
        self.put(path, text);
    }

    pub fn into_map(self) -> BTreeMap<String, Fact> {
        self.map
    }
}

/// Returns the word in brackets of `always [madvise] never`, or the whole text if no word is in
/// brackets.
pub(crate) fn selected(text: &str) -> &str {
    let inside = text.find('[').and_then(|from| {
        let rest = &text[from + 1..];
        rest.find(']').map(|to| &rest[..to])
    });
    match inside {
        Some(word) if !word.is_empty() && !word.contains(char::is_whitespace) => word,
        _ => text.trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::selected;

    #[test]
    fn the_word_in_brackets() {
        assert_eq!(selected("always [madvise] never"), "madvise");
        assert_eq!(selected("none\n"), "none");
        assert_eq!(selected("a [b c] d"), "a [b c] d");
        assert_eq!(selected("]["), "][");
    }
}
