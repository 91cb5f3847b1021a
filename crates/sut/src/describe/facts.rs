//! Collects facts under their paths while a description is made.

use std::collections::BTreeMap;

use assay_model::Fact;

use crate::Root;
use crate::read::root::Unreadable;

/// The facts found so far, and the root they are read from.
pub(crate) struct Facts<'a> {
    pub root: &'a Root,
    map: BTreeMap<String, Fact>,
}

impl<'a> Facts<'a> {
    pub fn new(root: &'a Root) -> Self {
        Facts { root, map: BTreeMap::new() }
    }

    /// A fact that was read.
    pub fn set(&mut self, path: impl Into<String>, value: impl Into<String>) {
        self.map.insert(path.into(), Fact::known(value));
    }

    /// A fact that could not be had.
    pub fn unknown(&mut self, path: impl Into<String>, reason: impl Into<String>) {
        self.map.insert(path.into(), Fact::unknown(reason));
    }

    /// A fact that was read, or why not.
    pub fn put(&mut self, path: impl Into<String>, value: Result<String, Unreadable>) {
        match value {
            Ok(value) => self.set(path, value),
            Err(e) => self.unknown(path, e.to_string()),
        }
    }

    /// The text of a file, on one line.
    pub fn file(&mut self, path: impl Into<String>, file: &str) {
        let fact = self.root.fact(file);
        self.map.insert(path.into(), fact);
    }

    /// As [`Facts::file`], but nothing at all if there is no such file: for what is only there on
    /// machines that have the thing.
    pub fn file_if_there(&mut self, path: impl Into<String>, file: &str) {
        if self.root.exists(file) {
            self.file(path, file);
        }
    }

    /// The chosen word of a file such as `always [madvise] never`.
    pub fn choice(&mut self, path: impl Into<String>, file: &str) {
        let text = self.root.text(file).map(|t| selected(&t).to_owned());
        self.put(path, text);
    }

    pub fn into_map(self) -> BTreeMap<String, Fact> {
        self.map
    }
}

/// The word in brackets of `always [madvise] never`; the whole text if there is none.
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
