//! Reads JSON of other programs. Bytes that are not UTF-8 are decoded as Latin-1. Numbers that JSON
//! does not have (`NaN`, `Infinity`) but that some programs write count as missing.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use assay_model::Scalar;
use serde_json::{Deserializer, Value};

use crate::readers::file::error::{ErrorLocation, Flaw};

/// Maximum number of values in a file, which limits the memory that they need.
const MAX_VALUES: usize = 4_000_000;
/// Maximum length of a list whose entries are compared with each other.
const MAX_ENTRIES: usize = 20_000;
/// Number of bytes at the start of a file, and of keys, that format detection examines.
pub(super) const LOOK: usize = 1 << 20;
const MAX_KEYS: usize = 4096;
/// Nesting levels whose keys format detection records, and levels that it follows.
const DEPTH: usize = 3;
const MAX_DEPTH: usize = 256;

/// Returns the text of a file without a byte order mark. PowerShell writes UTF-16 with its mark to
/// redirected output.
pub(in crate::readers) fn text(bytes: &[u8]) -> Cow<'_, str> {
    let little = bytes.starts_with(b"\xff\xfe");
    if little || bytes.starts_with(b"\xfe\xff") {
        let unit = |p: &[u8]| u16::from_be_bytes(if little { [p[1], p[0]] } else { [p[0], p[1]] });
        let units: Vec<u16> = bytes[2..].chunks_exact(2).map(unit).collect();
        return Cow::Owned(String::from_utf16_lossy(&units));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&b| char::from(b)).collect()),
    }
}

/// Returns the text at the start of a file, for format detection.
pub(in crate::readers) fn head(bytes: &[u8]) -> Cow<'_, str> {
    text(&bytes[..bytes.len().min(LOOK)])
}

pub(in crate::readers) fn value(bytes: &[u8]) -> Result<Value, Flaw> {
    parse(&text(bytes), |text| serde_json::from_str(text))
}

/// Parses the JSON object at the first `start`. Programs print warnings before it and a `;` after
/// it.
pub(in crate::readers) fn value_at(bytes: &[u8], start: &str) -> Result<Value, Flaw> {
    let text = text(bytes);
    let found = text.find(start).map_or(0, |at| at + start.len() - 1);
    let at = if text.starts_with('{') { 0 } else { found };
    // Line breaks are kept, so that errors refer to the right line of the file.
    let lines = "\n".repeat(text[..at].matches('\n').count());
    parse(&format!("{lines}{}", &text[at..]), |text| {
        Deserializer::from_str(text).into_iter().next().unwrap_or_else(|| serde_json::from_str(""))
    })
}

fn parse(text: &str, read: fn(&str) -> serde_json::Result<Value>) -> Result<Value, Flaw> {
    if text.bytes().filter(|b| matches!(b, b',' | b':' | b'[' | b'{')).count() > MAX_VALUES {
        return Err(Flaw::whole(format!("it has more than {MAX_VALUES} values")));
    }
    read(text).or_else(|first| {
        let changed = without_bare_numbers(text);
        if changed == text { Err(flaw(&first)) } else { read(&changed).map_err(|e| flaw(&e)) }
    })
}

fn flaw(error: &serde_json::Error) -> Flaw {
    let (line, column) = (error.line() as u64, error.column() as u64);
    let message = error.to_string();
    let place = format!(" at line {line} column {column}");
    let message = message.strip_suffix(&place).unwrap_or(&message).to_owned();
    let place =
        if line == 0 { ErrorLocation::Whole } else { ErrorLocation::Line(line, Some(column)) };
    Flaw { place, message }
}

/// Returns the text with `null` in place of every number outside of strings that JSON does not
/// have.
fn without_bare_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', 'N', 'n', 'I', 'i']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let bare = ["NaN", "nan", "Infinity", "infinity", "Inf", "inf"];
        let length = if let Some(word) = bare.iter().find(|w| rest.starts_with(**w)) {
            out.truncate(out.trim_end_matches(['-', '+']).len());
            out.push_str("null");
            word.len()
        } else {
            let end = 1 + rest.strip_prefix('"').map_or(0, string_length);
            out.push_str(&rest[..end]);
            end
        };
        rest = &rest[length..];
    }
    out + rest
}

/// Returns the length of the string whose opening quote was skipped, including its closing quote.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().position(|b| {
        let ends = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 1)
}

/// Returns the paths of the keys near the top: `results`, `results[].command`, `[].benchmark`. They
/// distinguish formats, even in a text that is truncated or invalid further down. Skips lines
/// before the first one that starts with `{` or `[`.
pub(in crate::readers) fn keys(bytes: &[u8]) -> BTreeSet<String> {
    let text = head(bytes);
    let opens = |line: &&str| line.trim_start().starts_with(['{', '[']);
    let before: usize =
        text.split_inclusive('\n').take_while(|line| !opens(line)).map(str::len).sum();
    let mut rest = &text[before..];
    let mut keys = BTreeSet::new();
    // The paths of the open objects and lists, the path of the next value, and the last string.
    let (mut open, mut path, mut string) = (Vec::<String>::new(), String::new(), "");
    while let Some(at) = rest.find(['"', ':', '{', '[', '}', ']']) {
        let sign = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match sign {
            b'"' => {
                let length = string_length(rest);
                // A text that ends inside a string may end with a character of several bytes.
                string = rest.get(..length.saturating_sub(1)).unwrap_or("");
                rest = &rest[length..];
            }
            b':' => {
                let parent = open.last().map_or("", String::as_str);
                path = if parent.is_empty() { string.into() } else { format!("{parent}.{string}") };
                if open.len() <= DEPTH && keys.len() < MAX_KEYS {
                    keys.insert(path.clone());
                }
            }
            b'{' | b'[' => {
                path.push_str(if sign == b'[' { "[]" } else { "" });
                open.push(path.clone());
            }
            _ => {
                open.pop();
                path = open.last().cloned().unwrap_or_default();
            }
        }
        if open.is_empty() || open.len() > MAX_DEPTH {
            break;
        }
    }
    keys
}

/// Returns true if the file has all of these keys.
pub(in crate::readers) fn has_keys(bytes: &[u8], wanted: &[&str]) -> bool {
    let keys = keys(bytes);
    wanted.iter().all(|key| keys.contains(*key))
}

/// A value of a JSON file with its path, so that errors can name its position.
#[derive(Debug, Clone)]
pub(in crate::readers) struct Json<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> Json<'a> {
    /// Returns the root of a file.
    pub(in crate::readers) fn root(value: &'a Value) -> Self {
        Json { value, path: String::new() }
    }

    /// Returns a field of an object; null if it is missing or if this is not an object.
    pub(in crate::readers) fn get(&self, key: &str) -> Json<'a> {
        let plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_');
        let path = match (plain, self.path.is_empty()) {
            (true, true) => key.to_owned(),
            (true, false) => format!("{}.{key}", self.path),
            (false, _) => format!("{}[\"{key}\"]", self.path),
        };
        Json { value: self.value.get(key).unwrap_or(&Value::Null), path }
    }

    /// Returns the fields of an object in file order; none if this is not an object.
    pub(in crate::readers) fn fields(&self) -> impl Iterator<Item = (&'a str, Json<'a>)> {
        self.value.as_object().into_iter().flatten().map(|(key, _)| (key.as_str(), self.get(key)))
    }

    /// Returns the values of a list; none if this is not a list.
    pub(in crate::readers) fn items(&self) -> impl Iterator<Item = Json<'a>> {
        let items = self.value.as_array().into_iter().flatten().enumerate();
        items.map(|(i, value)| Json { value, path: format!("{}[{i}]", self.path) })
    }

    /// Returns the values of a list of at most 20,000; null counts as an empty list.
    pub(in crate::readers) fn entries(&self) -> Result<Vec<Json<'a>>, Flaw> {
        match self.value {
            Value::Array(items) if items.len() > MAX_ENTRIES => {
                Err(self.flaw(format!("it has more than {MAX_ENTRIES} entries")))
            }
            Value::Array(_) | Value::Null => Ok(self.items().collect()),
            _ => Err(self.flaw("it is not a list")),
        }
    }

    pub(in crate::readers) fn value(&self) -> &'a Value {
        self.value
    }

    /// Returns a number; `None` if it is null or missing.
    pub(in crate::readers) fn number(&self) -> Result<Option<f64>, Flaw> {
        match self.value {
            Value::Null => Ok(None),
            Value::Number(n) => Ok(n.as_f64()),
            _ => Err(self.flaw("it is not a number")),
        }
    }

    /// Returns a number that is not negative; `None` if it is null or missing.
    pub(in crate::readers) fn amount(&self) -> Result<Option<f64>, Flaw> {
        match self.number()? {
            Some(n) if n < 0.0 => Err(self.flaw(format!("{n} is negative"))),
            other => Ok(other),
        }
    }

    /// Returns a text; `None` if it is null or missing.
    pub(in crate::readers) fn text(&self) -> Result<Option<&'a str>, Flaw> {
        match self.value {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text)),
            _ => Err(self.flaw("it is not a text")),
        }
    }

    /// Returns a text; empty if the value is anything else.
    pub(in crate::readers) fn text_or_empty(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    /// Returns the fields of an object of texts, each as the narrowest kind of value.
    pub(in crate::readers) fn scalars(&self) -> Result<BTreeMap<String, Scalar>, Flaw> {
        let scalar = |(key, value): (&str, Json<'_>)| {
            Ok((key.to_owned(), Scalar::parse(value.text()?.unwrap_or_default())))
        };
        self.fields().map(scalar).collect()
    }

    /// Returns the text of a required field.
    pub(in crate::readers) fn name(&self, key: &str) -> Result<&'a str, Flaw> {
        let text = self.object()?.get(key).text()?;
        text.ok_or_else(|| self.flaw(format!("it has no `{key}`")))
    }

    /// Returns an error unless this is an object.
    pub(in crate::readers) fn object(&self) -> Result<&Self, Flaw> {
        if self.value.is_object() { Ok(self) } else { Err(self.flaw("it is not an object")) }
    }

    /// Makes an error about this value.
    pub(in crate::readers) fn flaw(&self, message: impl Into<String>) -> Flaw {
        if self.path.is_empty() {
            return Flaw::whole(message);
        }
        Flaw::field(self.path.clone(), message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> String {
        value(bytes).unwrap().to_string()
    }

    #[test]
    fn bare_numbers_become_null_and_strings_stay() {
        assert_eq!(read(b"[1, NaN, -Infinity, -nan, null]"), "[1,null,null,null,null]");
        assert_eq!(read(br#"["a \" NaN", inf]"#), r#"["a \" NaN",null]"#);
    }

    #[test]
    fn latin_1_is_read() {
        assert_eq!(value(b"\"caf\xe9\"").unwrap(), "caf\u{e9}");
        assert_eq!(value(b"\xef\xbb\xbf\"x\"").unwrap(), "x");
    }

    #[test]
    fn errors_point_into_the_file() {
        let flaw = value(b"[1,\n x]").unwrap_err();
        assert_eq!(flaw.place, ErrorLocation::Line(2, Some(2)));
        let flaw = value_at(b"note\nnote\n{\"a\":", "\n{").unwrap_err();
        assert!(matches!(flaw.place, ErrorLocation::Line(3, _)), "{flaw:?}");
        assert_eq!(value_at(b"x = {\"a\":1};", "{").unwrap()["a"], 1);
    }

    #[test]
    fn fields_keep_their_order_and_paths_are_named() {
        let file = value(br#"{"b": 1, "a": [true, null, "x"], "c d": -2}"#).unwrap();
        let root = Json::root(&file);
        let keys: Vec<&str> = root.fields().map(|(key, _)| key).collect();
        assert_eq!(keys, ["b", "a", "c d"]);
        assert_eq!(root.get("a").items().nth(2).unwrap().text().unwrap(), Some("x"));
        assert_eq!(root.get("b").amount().unwrap(), Some(1.0));
        assert_eq!(root.get("none").number().unwrap(), None);
        let message = |flaw: Flaw| flaw.to_string();
        assert_eq!(
            message(root.get("c d").amount().unwrap_err()),
            ": at [\"c d\"]: -2 is negative"
        );
        assert_eq!(message(root.get("b").text().unwrap_err()), ": at b: it is not a text");
        assert_eq!(message(root.get("b").name("x").unwrap_err()), ": at b: it is not an object");
        let first = root.get("a").items().next().unwrap();
        assert_eq!(message(first.number().unwrap_err()), ": at a[0]: it is not a number");
    }

    #[test]
    fn more_values_than_are_read_are_an_error() {
        let many = format!("[{}0]", "0,".repeat(MAX_VALUES));
        let error = value(many.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("more than 4000000 values"), "{error}");
        let list = Value::from(vec![0; MAX_ENTRIES + 1]);
        let error = Json::root(&list).entries().unwrap_err().to_string();
        assert!(error.contains("more than 20000 entries"), "{error}");
    }

    #[test]
    fn keys_by_path_also_of_what_is_cut_off() {
        let text = br#"{"results": [{"command": "a \" {\"x\": 1}", "times": [1, 2],
            "p": {"n": {"deep": 1}}}], "tail": "cut"#;
        let wanted = ["results", "results[].command", "results[].times", "results[].p", "tail"];
        assert!(has_keys(text, &wanted), "{:?}", keys(text));
        assert!(!keys(text).iter().any(|k| k.contains('x') || k.contains("deep")));
        assert!(has_keys(b"note\n[{\"benchmark\": 1", &["[].benchmark"]));
        assert!(keys(b"no json").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn never_panics(bytes: Vec<u8>, text in "[\"\\\\NnIia0,{}\\[\\]:-]{0,60}") {
            for bytes in [bytes.as_slice(), text.as_bytes()] {
                let _ = (value(bytes), value_at(bytes, "\n{"), keys(bytes));
            }
        }
    }
}
