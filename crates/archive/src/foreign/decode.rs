//! From bytes to typed data: what is not UTF-8 is taken as Latin-1, and the numbers that JSON does not
//! have (`NaN`, `Infinity`), which some programs write bare, as missing.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _, SeqAccess, Visitor};

use super::error::{Flaw, Location};

/// A list of at most `MAX` values; a longer one is an error before it fills the memory.
pub(super) struct Bounded<T, const MAX: usize>(pub Vec<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for Bounded<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(List::<T, MAX>(PhantomData))
    }
}

struct List<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for List<T, MAX> {
    type Value = Bounded<T, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            if items.len() == MAX {
                return Err(A::Error::custom(format!("a list has more than {MAX} values")));
            }
            items.push(item);
        }
        Ok(Bounded(items))
    }
}

/// The text of a file, without a byte order mark.
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&b| char::from(b)).collect()),
    }
}

/// Reads a JSON file.
pub(super) fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Flaw> {
    parse(&text(bytes))
}

/// Reads the JSON object that starts at the first line with a `{` at its start: programs that print
/// their result may print warnings before it.
pub(super) fn json_after_text<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Flaw> {
    let text = text(bytes);
    let start = if text.starts_with('{') { 0 } else { text.find("\n{").map_or(0, |i| i + 1) };
    // Lines are kept, so that an error points into the file.
    let lines = "\n".repeat(text[..start].matches('\n').count());
    parse(&format!("{lines}{}", &text[start..]))
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Flaw> {
    let first = match serde_json::from_str(text) {
        Ok(value) => return Ok(value),
        Err(e) => e,
    };
    match without_bare_numbers(text) {
        Some(changed) => serde_json::from_str(&changed).map_err(|e| flaw(&e)),
        None => Err(flaw(&first)),
    }
}

fn flaw(error: &serde_json::Error) -> Flaw {
    let (line, column) = (error.line() as u64, error.column() as u64);
    let message = error.to_string();
    let place = format!(" at line {line} column {column}");
    let message = message.strip_suffix(&place).unwrap_or(&message).to_owned();
    let place = if line == 0 { Location::Whole } else { Location::Line(line, Some(column)) };
    Flaw { place, message }
}

const BARE: [&str; 6] = ["NaN", "nan", "Infinity", "infinity", "Inf", "inf"];

/// The text with `null` in the place of every number outside of strings that JSON does not have;
/// `None` when there is none.
fn without_bare_numbers(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut found) = (text, false);
    while let Some(at) = rest.find(['"', 'N', 'n', 'I', 'i']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        if from.starts_with('"') {
            let end = end_of_string(from);
            out.push_str(&from[..end]);
            rest = &from[end..];
        } else if let Some(word) = BARE.iter().find(|w| from.starts_with(**w)) {
            if out.ends_with(['-', '+']) {
                out.pop();
            }
            out.push_str("null");
            found = true;
            rest = &from[word.len()..];
        } else {
            out.push_str(&from[..1]);
            rest = &from[1..];
        }
    }
    out.push_str(rest);
    found.then_some(out)
}

/// Where the string that starts `text` ends, its closing quote included.
fn end_of_string(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut i = 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 2,
            b'"' => return i + 1,
            _ => i += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_numbers_become_null_and_strings_stay() {
        let read: Vec<Option<f64>> = json(b"[1, NaN, -Infinity, -nan, null]").unwrap();
        assert_eq!(read, [Some(1.0), None, None, None, None]);
        let read: (String, Option<f64>) = json(br#"["a \" NaN", inf]"#).unwrap();
        assert_eq!(read, ("a \" NaN".to_owned(), None));
    }

    #[test]
    fn latin_1_is_read() {
        let read: String = json(b"\"caf\xe9\"").unwrap();
        assert_eq!(read, "caf\u{e9}");
        let read: String = json(b"\xef\xbb\xbf\"x\"").unwrap();
        assert_eq!(read, "x");
    }

    #[test]
    fn errors_point_into_the_file() {
        let flaw = json::<Vec<f64>>(b"[1,\n \"x\"]").unwrap_err();
        assert_eq!(flaw.place, Location::Line(2, Some(4)));
        let flaw = json_after_text::<Vec<f64>>(b"note\nnote\n{\"a\":1}").unwrap_err();
        assert!(matches!(flaw.place, Location::Line(3, _)), "{flaw:?}");
    }

    proptest::proptest! {
        #[test]
        fn never_panics(bytes: Vec<u8>, text in "[\"\\\\NnIia0,{}\\[\\]:-]{0,40}") {
            let _ = json::<serde_json::Value>(&bytes);
            let _ = json_after_text::<serde_json::Value>(text.as_bytes());
        }
    }
}
