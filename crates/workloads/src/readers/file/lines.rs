//! Text output of benchmark tools: its lines, and the numbers and quantities in them.

use std::borrow::Cow;

use crate::readers::file::json;
use crate::readers::file::unit::{multiple, scaled};

/// Returns the lines of an output with their numbers, which count from 1. Colors are removed, and
/// of a line that was overwritten on the terminal (`\r`) the last text is returned.
pub(in crate::readers) fn lines(text: &str) -> impl Iterator<Item = (u64, Cow<'_, str>)> {
    text.lines().enumerate().map(|(i, line)| {
        let line = line.trim_end();
        (i as u64 + 1, plain(line.rsplit('\r').next().unwrap_or(line)))
    })
}

/// Returns the lines at the start of a file, for format detection.
pub(in crate::readers) fn head_has(bytes: &[u8], matches: impl Fn(&str) -> bool) -> bool {
    let head = json::head(bytes);
    lines(&head).any(|(_, line)| matches(&line))
}

/// Removes the escape sequences of colors.
fn plain(line: &str) -> Cow<'_, str> {
    if !line.contains('\u{1b}') {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut parts = line.split('\u{1b}');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        // A sequence ends with its first letter.
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |at| at + 1);
        out.push_str(&part[end..]);
    }
    Cow::Owned(out)
}

/// Parses a number that fills the text: digits with an optional sign, decimal point and exponent,
/// and with commas between all thousands (`1,234.5`) or none. `None` for everything else, so that
/// `12,5` is never 12 or 125; also for `NaN` and `inf`.
pub(in crate::readers) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let whole = unsigned.split(['.', 'e', 'E']).next().unwrap_or_default();
    let value: Option<f64> = if whole.contains(',') {
        let mut groups = whole.split(',');
        let first = groups.next().unwrap_or_default();
        let all = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
        let grouped =
            matches!(first.len(), 1..=3) && all(first) && groups.all(|g| g.len() == 3 && all(g));
        if grouped { text.replace(',', "").parse().ok() } else { None }
    } else {
        text.parse().ok()
    };
    value.filter(|v| v.is_finite())
}

/// Returns true for a value that a tool prints where it could compute none: `NaN`, `inf`, `-nan`.
pub(in crate::readers) fn is_missing(text: &str) -> bool {
    let text = text.trim().trim_start_matches(['-', '+']);
    ["nan", "inf", "infinity"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Replaces the entities of XML.
pub(in crate::readers) fn unescaped(raw: &str) -> Cow<'_, str> {
    if !raw.contains('&') {
        return Cow::Borrowed(raw);
    }
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    Cow::Owned(pairs.into_iter().fold(raw.to_owned(), |text, (from, to)| text.replace(from, to)))
}

/// Parses a number with its unit, with or without a blank between them (`26.0 µs`, `12.5MB/s`),
/// and returns the value in the base unit. Times and sizes have a base unit; other units stay.
pub(in crate::readers) fn quantity(text: &str) -> Option<(f64, String)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || "+-.,".contains(c)))
        .map_or(text.len(), |at| exponent(text, at));
    let value = number(&text[..end])?;
    let unit = text[end..].trim();
    // The rest may also be a part of the number: `1_234`, `1 234`, `0x10`, `1/2`.
    let word = unit.starts_with(|c: char| c.is_alphabetic() || c == '%') || unit.is_empty();
    let (factor, unit) = multiple(Some(unit).filter(|u| word && !u.contains(char::is_numeric))?);
    Some((scaled(value, factor), unit))
}

/// Returns the end of a number whose digits end at `at`: after an exponent, if one follows.
fn exponent(text: &str, at: usize) -> usize {
    let Some(rest) = text[at..].strip_prefix(['e', 'E']) else { return at };
    let signed = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    let digits = signed.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 { at } else { at + 1 + (rest.len() - signed.len()) + digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_whole_or_not_at_all() {
        for (text, value) in [
            ("3,161", 3161.0),
            ("13,967,756.30", 13_967_756.3),
            ("-0.5", -0.5),
            ("1e-9", 1e-9),
            ("1.5E+3", 1500.0),
            ("0", 0.0),
        ] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        for text in [
            "12,5", "1,23,456", "1234,567", ",123", "0x10", "1_000", "", "-", "nan", "inf",
            "1e999", "5 6",
        ] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn quantities_have_base_units() {
        let near = |text: &str, value: f64, unit: &str| {
            let (found, found_unit) = quantity(text).unwrap();
            assert!(
                (found / value - 1.0).abs() < 1e-12 && found_unit == unit,
                "{text}: {found} {found_unit}"
            );
        };
        near("26.029 µs", 26.029e-6, "s");
        near("344 ns", 344e-9, "s");
        near("1.5e3ms", 1.5, "s");
        near("12.5 MB/s", 12.5e6, "B/s");
        near("1,234 cycles", 1234.0, "cycles");
        near("7 errors", 7.0, "errors");
        for text in ["12,5 ms", "1_234 ms", "1 234 ms", "1'234ms", "0x10 ms", "1/2 s", "1e5e5 s"] {
            assert_eq!(quantity(text), None, "{text}");
        }
        assert_eq!(quantity("ms"), None);
    }

    #[test]
    fn colors_and_overwritten_text_are_removed() {
        let text = "\u{1b}[1mfib\u{1b}[0m 1\nBenchmarking a\rfib 2\r\n";
        let all: Vec<String> = lines(text).map(|(_, line)| line.into_owned()).collect();
        assert_eq!(all, ["fib 1", "fib 2"]);
    }
}
