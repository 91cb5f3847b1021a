//! A text: its blocks with their source lines, and its tables.

use std::path::Path;

use crate::tables::blocks::{Block, BlockCollector, BlockKind};
use crate::tables::{Grid, csv, html, markdown, plain};

/// Error for a text that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}:{line}: {message}")]
pub struct TextError {
    /// Name of the text.
    pub name: String,
    /// Line number, from 1.
    pub line: usize,
    /// The reason and the next step.
    pub message: String,
}

/// A text with its blocks and tables.
#[derive(Debug, Clone)]
pub struct Document {
    /// Name of the text's file.
    pub name: String,
    /// Paragraphs, list items, headings, and lines of tables and code, in order.
    pub blocks: Vec<Block>,
    pub(crate) grids: Vec<Grid>,
    pub(crate) source: String,
}

impl Document {
    /// Reads a text. The extension of its name selects the format: Markdown (`.md`), HTML
    /// (`.html`), CSV (`.csv`, `.tsv`), else plain text.
    pub fn read(name: &str, source: &str) -> Result<Self, TextError> {
        let mut reader = BlockCollector::default();
        let extension = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or("");
        let start = source.trim_start().get(..9).unwrap_or("").to_lowercase();
        let html = start.starts_with("<!doctype") || start.starts_with("<html");
        let error = |(line, message)| TextError { name: name.to_owned(), line, message };
        match extension.to_lowercase().as_str() {
            "md" | "markdown" => markdown::read(&mut reader, source).map_err(error)?,
            "html" | "htm" | "xhtml" => html::read(&mut reader, source, 1).map_err(error)?,
            _ if html => html::read(&mut reader, source, 1).map_err(error)?,
            "csv" | "tsv" => csv::read(&mut reader, source, 1),
            _ => plain::read(&mut reader, source, 1, BlockKind::Prose),
        }
        let (blocks, grids) = reader.into_parts();
        Ok(Document { name: name.to_owned(), blocks, grids, source: source.to_owned() })
    }

    /// Builds an index of the words of the text, in which quotes are found.
    pub(crate) fn quotes(&self) -> Quotes<'_> {
        Quotes {
            document: self,
            blocks: self.blocks.iter().map(|b| Normalized::from_text(&b.text)).collect(),
            source: Normalized::from_text(&self.source),
        }
    }
}

/// The words of a text with white space normalized.
pub(crate) struct Quotes<'a> {
    pub document: &'a Document,
    blocks: Vec<Normalized>,
    source: Normalized,
}

impl Quotes<'_> {
    /// Returns the places of a quote: first those in the blocks, then, if there are none, those in
    /// the source with its markup.
    pub(crate) fn find(&self, quote: &str) -> Vec<QuotePlace> {
        let wanted = Normalized::from_text(quote).text;
        let wanted = wanted.trim();
        if wanted.is_empty() {
            return Vec::new();
        }
        let Document { blocks, source, .. } = self.document;
        let mut found = Vec::new();
        for (at, (block, own)) in blocks.iter().zip(&self.blocks).enumerate() {
            found.extend(
                own.places(wanted).map(|offset| QuotePlace {
                    line: block.line(offset),
                    block: Some((at, offset)),
                }),
            );
        }
        if found.is_empty() {
            let line = |offset: usize| source[..offset].matches('\n').count() + 1;
            let places = self.source.places(wanted);
            found.extend(places.map(|offset| QuotePlace { line: line(offset), block: None }));
        }
        found
    }
}

/// A place where a quote occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QuotePlace {
    pub line: usize,
    /// Block and offset in its text, if the quote lies in one block.
    pub block: Option<(usize, usize)>,
}

/// A text with white space reduced to single blanks, and the offset of each byte in the original.
struct Normalized {
    text: String,
    offsets: Vec<usize>,
}

impl Normalized {
    fn from_text(text: &str) -> Self {
        let mut own = Normalized { text: String::with_capacity(text.len()), offsets: Vec::new() };
        for (at, c) in text.char_indices() {
            let blank = c.is_whitespace();
            if blank && own.text.ends_with(' ') {
                continue;
            }
            own.text.push(if blank { ' ' } else { c });
            own.offsets.resize(own.text.len(), at);
        }
        own
    }

    /// Returns the places of words. A place neither begins nor ends inside a word or number.
    fn places<'a>(&'a self, wanted: &'a str) -> impl Iterator<Item = usize> + 'a {
        let whole = |at: &usize| {
            let (before, after) = (&self.text[..*at], &self.text[at + wanted.len()..]);
            !joined(before.chars().rev(), wanted.chars().next())
                && !joined(after.chars(), wanted.chars().next_back())
        };
        self.text.match_indices(wanted).map(|(at, _)| at).filter(whole).map(|at| self.offsets[at])
    }
}

/// Returns true if the outer characters, nearest first, continue the word or number that ends with
/// `inner`.
fn joined(mut outer: impl Iterator<Item = char>, inner: Option<char>) -> bool {
    let next = outer.next();
    let digit = |c: Option<char>| c.is_some_and(char::is_numeric);
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    word(inner) && word(next)
        || digit(inner) && matches!(next, Some('.' | ',')) && digit(outer.next())
}

/// Decodes a text as UTF-8, else as Latin-1. A NUL byte is an error, because it does not occur in
/// text.
pub fn decode(name: &str, bytes: &[u8]) -> Result<String, TextError> {
    if let Some(at) = bytes.iter().position(|b| *b == 0) {
        let line = bytes[..at].split(|b| *b == b'\n').count();
        let message = "a byte 0x00: this is not text".to_owned();
        return Err(TextError { name: name.to_owned(), line, message });
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    Ok(match str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|b| char::from(*b)).collect(),
    })
}
