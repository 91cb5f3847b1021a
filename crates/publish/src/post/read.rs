//! Decodes the bytes of a template, up to a maximum size.

use std::fmt;

use super::error::{Result, TemplateText};

/// Size of the largest template that is read, in bytes.
pub const MAX_SIZE: usize = 1 << 20;

/// Character that begins the place of a computed piece in Markdown; templates cannot contain it.
pub(super) const OPEN: char = '\u{E000}';
/// Character that ends such a place.
pub(super) const CLOSE: char = '\u{E001}';

/// A place in the Markdown: a number, a block or a claim of the post, by index.
///
/// Only the evaluator writes places, so an index is always one of the post's. Reserved characters
/// cannot come from outside: [`decode`] replaces them. A template is rejected if it contains them
/// as written, by the escapes of its front matter, or by entities in its text. In addresses they
/// are replaced.
#[derive(Clone, Copy)]
pub(super) enum MarkdownPlace {
    Number(usize),
    Block(usize),
    Claim(usize),
}

impl MarkdownPlace {
    /// Parses the text between [`OPEN`] and [`CLOSE`]; `None` for a typed quantity.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (kind, at) = text.split_at_checked(1)?;
        let at = at.parse().ok()?;
        match kind {
            "n" => Some(MarkdownPlace::Number(at)),
            "b" => Some(MarkdownPlace::Block(at)),
            "v" => Some(MarkdownPlace::Claim(at)),
            _ => None,
        }
    }
}

impl fmt::Display for MarkdownPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, at) = match self {
            MarkdownPlace::Number(at) => ('n', at),
            MarkdownPlace::Block(at) => ('b', at),
            MarkdownPlace::Claim(at) => ('v', at),
        };
        write!(f, "{OPEN}{kind}{at}{CLOSE}")
    }
}

/// Returns true for the characters that mark computed pieces.
pub(super) fn is_reserved(c: char) -> bool {
    ('\u{E000}'..='\u{E00F}').contains(&c)
}

/// Decodes the text of a template. Bytes that are not UTF-8 are read as Latin-1.
///
/// # Errors
/// The template is longer than [`MAX_SIZE`], or has a byte that text does not have (it is a binary
/// file).
pub fn decode(name: &str, bytes: &[u8]) -> Result<String> {
    let whole = TemplateText { name, text: "" };
    if bytes.len() > MAX_SIZE {
        let message = format!("the template is larger than {} MiB", MAX_SIZE >> 20);
        let help = "a post is text; put tables into files of results and name them";
        return Err(whole.whole(message, help));
    }
    if let Some(at) = bytes.iter().position(|b| *b < 0x20 && !matches!(b, b'\n' | b'\r' | b'\t')) {
        let line = bytes[..at].split(|b| *b == b'\n').count();
        let byte = bytes[at];
        let message = format!("line {line} holds a byte {byte:#04x}, which text does not have");
        return Err(whole.whole(message, "a template is Markdown in UTF-8 or Latin-1"));
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|b| char::from(*b)).collect(),
    };
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    Ok(text.replace(is_reserved, "\u{FFFD}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin_1_is_understood_and_too_much_is_not_read() {
        assert_eq!(decode("x", b"M\xfcnchen").unwrap(), "München");
        assert_eq!(decode("x", "a\u{E000}b".as_bytes()).unwrap(), "a\u{FFFD}b");
        let error = decode("x.md", &vec![b'a'; MAX_SIZE + 1]).unwrap_err().to_string();
        assert!(error.contains("larger than 1 MiB"), "{error}");
        assert!(decode("x", b"a\nb\0").unwrap_err().to_string().contains("line 2"));
    }
}
