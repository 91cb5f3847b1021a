//! What is audited, as text: bytes of UTF-8 or Latin-1, HTML reduced to text, and the way back from
//! a place in that text to line and column of the file.

use crate::read::html;

/// The largest file that is read by default, bytes.
pub const MAX_SIZE: usize = 16 << 20;

/// A piece of a text, in bytes from its start; `end` is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, serde::Serialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Span { start, end: end.max(start) }
    }

    pub(crate) fn overlaps(self, other: Span) -> bool {
        self.start < other.end && other.start < self.end
    }

    pub(crate) fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or("")
    }
}

/// Why a file cannot be audited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuditError {
    /// Larger than the limit.
    #[error("{name}: {size} bytes, and the limit is {limit}; give a larger one if it is meant")]
    TooLarge {
        /// The file.
        name: String,
        /// Its size, bytes.
        size: u64,
        /// The limit, bytes.
        limit: u64,
    },
    /// Not text.
    #[error(
        "{name}:{line}: not text: a byte {byte:#04x}; audit reads Markdown, HTML or plain text"
    )]
    Binary {
        /// The file.
        name: String,
        /// The line, from 1.
        line: usize,
        /// The byte that text does not have.
        byte: u8,
    },
}

/// How a file is marked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Markdown or plain text.
    Text,
    /// HTML.
    Html,
}

/// The text that is audited, with the way back to its file.
#[derive(Debug, Clone)]
pub struct Source {
    /// The text without markup of HTML; Markdown stays as it is.
    pub text: String,
    /// How the file is marked up.
    pub format: Format,
    /// The file's own text, decoded.
    original: Option<String>,
    /// Pairs of an offset in `text` and the offset of the same piece in `original`; rising.
    map: Vec<(usize, usize)>,
    /// Where lines of the file's own text start.
    lines: Vec<usize>,
}

impl Source {
    /// Takes a file's bytes. `name` is used in errors; it ends in `.html` or `.htm`, or the text
    /// starts like HTML, for HTML. Bytes that are not UTF-8 are taken as Latin-1.
    pub fn read(name: &str, bytes: &[u8], limit: usize) -> Result<Source, AuditError> {
        if bytes.len() > limit {
            return Err(AuditError::TooLarge {
                name: name.into(),
                size: bytes.len() as u64,
                limit: limit as u64,
            });
        }
        let odd = |b: &u8| *b < 0x20 && !matches!(b, b'\n' | b'\r' | b'\t' | 0x0b | 0x0c | 0x1b);
        if let Some(at) = bytes.iter().position(odd) {
            let line = bytes[..=at].split(|b| *b == b'\n').count();
            return Err(AuditError::Binary { name: name.into(), line, byte: bytes[at] });
        }
        let decoded = match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes.iter().map(|&b| char::from(b)).collect(),
        };
        Ok(if is_html(name, &decoded) {
            Source::of_html(decoded)
        } else {
            Source::of_text(decoded)
        })
    }

    /// Takes Markdown or plain text.
    pub fn of_text(text: impl Into<String>) -> Source {
        let text = text.into();
        let lines = line_starts(&text);
        Source { text, format: Format::Text, original: None, map: Vec::new(), lines }
    }

    /// Takes HTML.
    pub fn of_html(html: impl Into<String>) -> Source {
        let original = html.into();
        let html::Plain { text, map } = html::plain(&original);
        let lines = line_starts(&original);
        Source { text, format: Format::Html, original: Some(original), map, lines }
    }

    /// Line and column (characters), both from 1, in the file of an offset in `text`.
    pub fn place(&self, offset: usize) -> (usize, usize) {
        let (whole, at) = match &self.original {
            None => (&self.text, offset),
            Some(original) => {
                let i = self.map.partition_point(|(text, _)| *text <= offset);
                let at = match i.checked_sub(1).map(|i| self.map[i]) {
                    Some((text, file)) => file + (offset - text),
                    None => 0,
                };
                (original, at)
            }
        };
        let line = self.lines.partition_point(|start| *start <= at).max(1);
        let start = self.lines[line - 1];
        let at = at.min(whole.len());
        let column = whole
            .as_bytes()
            .get(start..at)
            .map_or(0, |bytes| bytes.iter().filter(|b| **b & 0xC0 != 0x80).count());
        (line, column + 1)
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

fn is_html(name: &str, text: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    if [".html", ".htm", ".xhtml"].iter().any(|ending| lower.ends_with(ending)) {
        return true;
    }
    let head = text.trim_start_matches('\u{feff}').trim_start();
    ["<!doctype", "<html", "<?xml", "<head", "<body"]
        .iter()
        .any(|tag| head.get(..tag.len()).is_some_and(|h| h.eq_ignore_ascii_case(tag)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_text_is_named() {
        let error = Source::read("a.md", b"one\ntwo\0", MAX_SIZE).unwrap_err().to_string();
        assert!(error.starts_with("a.md:2: not text: a byte 0x00"), "{error}");
        let error = Source::read("a.md", b"12345", 4).unwrap_err().to_string();
        assert!(error.contains("5 bytes, and the limit is 4"), "{error}");
    }

    #[test]
    fn latin_1_is_understood_and_columns_count_characters() {
        let source = Source::read("a.txt", b"M\xfcller wins\nby 5%", MAX_SIZE).unwrap();
        assert!(source.text.starts_with("Müller"));
        assert_eq!(source.place(source.text.find("wins").unwrap()), (1, 8));
        assert_eq!(source.place(source.text.find("5%").unwrap()), (2, 4));
    }

    #[test]
    fn places_in_html_are_those_of_the_file() {
        let source = Source::read("a.html", b"<p>\nA &amp; B are\n<b>5%</b> up</p>", 99).unwrap();
        assert_eq!(source.place(source.text.find("5%").unwrap()), (3, 4));
        assert_eq!(source.place(source.text.find("B are").unwrap()), (2, 9));
    }
}
