//! Finds a number in a program's output by the text around it: `compressed: {value} MB/s`.

use std::ops::Range;

use assay_model::units::DIGIT_JOINTS;

use super::format::Take;

/// Placeholder of the number in a pattern.
const HOLE: &str = "{value}";

/// Reason why a pattern is invalid or finds no number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatternError {
    #[error("the pattern `{pattern}` {mistake}; write one such as `took {HOLE} ms`")]
    Malformed { pattern: String, mistake: &'static str },
    #[error("nothing matches `{0}`")]
    NoMatch(String),
    #[error("{places} places match `{pattern}`; make the pattern longer or set `take`")]
    Ambiguous { places: usize, pattern: String },
    #[error(
        "`{0}` is not a number that assay reads: have the program print digits with a decimal \
         point and nothing between them, as with LC_ALL=C"
    )]
    NotANumber(String),
}

/// Text with one placeholder for a number. A run of whitespace matches any run of whitespace.
#[derive(Debug)]
pub(crate) struct Pattern {
    before: String,
    after: String,
}

impl Pattern {
    /// Parses a pattern with one `{value}`.
    ///
    /// # Errors
    /// Fails if `{value}` does not occur exactly once, or if there is no other text.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let wrong = |mistake| Err(PatternError::Malformed { pattern: text.to_owned(), mistake });
        match text.split_once(HOLE) {
            None => wrong("has no {value}"),
            Some((_, after)) if after.contains(HOLE) => wrong("has more than one {value}"),
            Some((before, after)) if before.trim().is_empty() && after.trim().is_empty() => {
                wrong("has no words around {value}")
            }
            Some((before, after)) => Ok(Pattern { before: before.into(), after: after.into() }),
        }
    }

    /// Returns the number at which the pattern matches within a line of `text`.
    ///
    /// # Errors
    /// Fails if no line matches, or if several do and `take` does not choose one.
    pub fn find(&self, text: &str, take: Take) -> Result<f64, PatternError> {
        let mut found = text.lines().flat_map(|line| self.in_line(line));
        let pattern = || format!("{}{HOLE}{}", self.before, self.after);
        let none = || PatternError::NoMatch(pattern());
        match take {
            Take::First => found.next().ok_or_else(none)?,
            Take::Last => found.last().ok_or_else(none)?,
            Take::Only => {
                let value = found.next().ok_or_else(none)?;
                match found.count() {
                    0 => value,
                    more => Err(PatternError::Ambiguous { places: more + 1, pattern: pattern() }),
                }
            }
        }
    }

    /// Returns the numbers of a line; a number that is part of a longer number is an error.
    fn in_line(&self, line: &str) -> Vec<Result<f64, PatternError>> {
        let mut found = Vec::new();
        let mut start = 0;
        while start <= line.len() {
            let rest = &line[start..];
            let step = rest.chars().next().map_or(1, char::len_utf8);
            // A number is matched from its beginning, never from its middle.
            let inside = self.before.is_empty()
                && line[..start]
                    .chars()
                    .next_back()
                    .is_some_and(|c| c.is_ascii_digit() || c == '.');
            match self.at(rest).filter(|_| !inside) {
                Some((value, at, length)) => {
                    let whole = self.spelled(line, start + at.start..start + at.end);
                    let is_whole = whole.len() == at.len();
                    let piece = || PatternError::NotANumber(line[whole].to_owned());
                    found.push(is_whole.then_some(value).ok_or_else(piece));
                    start += length.max(step);
                }
                None => start += step,
            }
        }
        found
    }

    /// Returns the whole extent of the number at `at`, including thousands separators, a decimal
    /// comma or `0x`. A separator in the pattern next to the number ends the number there.
    fn spelled(&self, line: &str, at: Range<usize>) -> Range<usize> {
        let Range { mut start, mut end } = at;
        let parts = |c: Option<char>| c.is_some_and(|c| DIGIT_JOINTS.contains(c));
        if !parts(self.after.chars().next()) {
            while let Some(more) = joined_after(&line[start..end], &line[end..]) {
                end += more;
            }
        }
        if !parts(self.before.chars().next_back()) {
            // If the pattern starts with the number, a blank may be a thousands separator, too.
            let loose = self.before.is_empty();
            while let Some(more) = joined_before(&line[..start], &line[start..end], loose) {
                start -= more;
            }
        }
        start..end
    }

    /// If `text` begins with the pattern, returns the number, its position, and the length of the
    /// match.
    fn at(&self, text: &str) -> Option<(f64, Range<usize>, usize)> {
        let rest = strip(text, &self.before)?;
        let from = text.len() - rest.len();
        let (value, rest) = number(rest)?;
        let at = from..text.len() - rest.len();
        let rest = strip(rest, &self.after)?;
        Some((value, at, text.len() - rest.len()))
    }
}

/// Returns the whole extent of a number in a line that is at least the range `at`.
pub(crate) fn spelled(line: &str, at: Range<usize>) -> Range<usize> {
    let any = Pattern { before: String::new(), after: String::new() };
    let Range { mut start, mut end } = any.spelled(line, at);
    let part = |c: char| c.is_ascii_digit() || c == '.';
    end += line[end..].chars().take_while(|c| part(*c)).count();
    start -= line[..start].chars().rev().take_while(|c| part(*c)).count();
    start..end
}

/// Returns the length of a separator and the digits after it, at the start of `after`, that
/// continue `number`.
fn joined_after(number: &str, after: &str) -> Option<usize> {
    let joint = after.chars().next()?;
    let behind = &after[joint.len_utf8()..];
    let digits = match joint {
        'x' | 'X' if number == "0" => behind.bytes().take_while(u8::is_ascii_hexdigit).count(),
        c if DIGIT_JOINTS.contains(c) => digits(behind.chars()),
        _ => 0,
    };
    (digits > 0).then_some(joint.len_utf8() + digits)
}

/// Returns the length of the digits and the separator at the end of `before` that `number`
/// continues. If `loose`, the separator may be a blank between thousands.
fn joined_before(before: &str, number: &str, loose: bool) -> Option<usize> {
    let joint = before.chars().next_back()?;
    let left = &before[..before.len() - joint.len_utf8()];
    let group = digits(left.chars().rev());
    let digits = match joint {
        'x' | 'X' if left.ends_with('0') => 1,
        ' ' if loose && number.len() == 3 && digits(number.chars()) == 3 => {
            let alone = left[..left.len() - group].chars().next_back();
            if group <= 3 && alone.is_none_or(char::is_whitespace) { group } else { 0 }
        }
        c if DIGIT_JOINTS.contains(c) => group,
        _ => 0,
    };
    (digits > 0).then_some(joint.len_utf8() + digits)
}

/// Returns the length in bytes of the digits at the start of `text`.
fn digits(text: impl Iterator<Item = char>) -> usize {
    text.take_while(|c| c.is_numeric()).map(char::len_utf8).sum()
}

/// Returns the rest of `text` after `words`, if it starts with them.
fn strip<'a>(mut text: &'a str, words: &str) -> Option<&'a str> {
    let mut words = words;
    while let Some(c) = words.chars().next() {
        if c.is_whitespace() {
            let trimmed = text.trim_start();
            if trimmed.len() == text.len() {
                return None;
            }
            (text, words) = (trimmed, words.trim_start());
        } else {
            text = text.strip_prefix(c)?;
            words = &words[c.len_utf8()..];
        }
    }
    Some(text)
}

/// Parses the longest finite number at the start of `text`; returns it and the rest.
fn number(text: &str) -> Option<(f64, &str)> {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let byte = |at: usize| text.as_bytes().get(at).copied();
    let mut end = usize::from(matches!(byte(0), Some(b'+' | b'-')));
    let whole = digits(end);
    end += whole;
    if byte(end) == Some(b'.') {
        let fraction = digits(end + 1);
        if whole + fraction > 0 && fraction > 0 {
            end += 1 + fraction;
        }
    }
    if matches!(byte(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(byte(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let value: f64 = text[..end].parse().ok()?;
    value.is_finite().then_some((value, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn find(pattern: &str, text: &str, take: Take) -> Result<f64, String> {
        Pattern::parse(pattern).unwrap().find(text, take).map_err(|e| e.to_string())
    }

    #[test]
    fn finds_numbers_by_their_words() {
        let text = "warm: 10 MB/s\ncompressed:   123.5 MB/s (ratio 2.87)\nx=-4e-3;\n";
        assert_eq!(find("compressed: {value} MB/s", text, Take::Only), Ok(123.5));
        assert_eq!(find("(ratio {value})", text, Take::Only), Ok(2.87));
        assert_eq!(find("x={value};", text, Take::Only), Ok(-0.004));
        assert_eq!(find("{value} MB/s", text, Take::First), Ok(10.0));
        assert_eq!(find("{value} MB/s", text, Take::Last), Ok(123.5));
        assert_eq!(find("total {value}", "total 5.\n", Take::Only), Ok(5.0));
    }

    #[test]
    fn a_number_is_read_whole_or_not_at_all() {
        let spellings = [
            "12,5",
            "1,234",
            "1.234,5",
            "1'234",
            "1’234",
            "1_234",
            "0x10",
            "1\u{a0}234",
            "1\u{202f}234",
            "1,234,567.8",
            "12٫5",
        ];
        for spelled in spellings {
            for pattern in ["took {value} ms", "took {value}", "{value} ms", "took {value}ms"] {
                for text in [format!("took {spelled} ms\n"), format!("took {spelled}ms")] {
                    let found = find(pattern, &text, Take::Last);
                    assert!(found.is_err(), "{pattern}: {text}: {found:?}");
                }
            }
        }
        let error = find("took {value}", "took 12,5 ms", Take::Only).unwrap_err();
        assert!(error.contains("`12,5`") && error.contains("LC_ALL=C"), "{error}");
        assert!(find("{value} ms", "took 1 234 ms", Take::Only).is_err());
        for (pattern, text, value) in [
            ("took {value}", "took 12ms", 12.0),
            ("took {value}", "took 12.5, then more", 12.5),
            ("took {value}", "took 1e-3.", 1e-3),
            ("{value} ms", "12:00:01 500 ms", 500.0),
            ("{value} ms", "run 7: 500 ms", 500.0),
            ("a={value},", "a=1,b=2", 1.0),
            ("({value},", "(1,2)", 1.0),
            (",{value}", "a,1", 1.0),
        ] {
            assert_eq!(find(pattern, text, Take::Only), Ok(value), "{pattern}: {text}");
        }
    }

    #[test]
    fn says_when_there_is_none_or_no_one() {
        let two = find("{value} MB/s", "1 MB/s 2 MB/s", Take::Only).unwrap_err();
        assert!(two.starts_with("2 places match"), "{two}");
        for text in ["", "took ms", "took nan ms", "took 1 s", "took1 ms"] {
            assert!(find("took {value} ms", text, Take::Last).is_err(), "{text}");
        }
        for pattern in ["no hole", "{value}", " {value} ", "{value} and {value}"] {
            assert!(Pattern::parse(pattern).is_err(), "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn any_number_is_read_back(x in -1e300f64..1e300, noise in "[a-z \\n]{0,20}") {
            let text = format!("{noise}\nrate: {x:e} op/s");
            prop_assert_eq!(find("rate: {value} op/s", &text, Take::Last), Ok(x));
        }

        /// Digits in any grouping give the whole number or an error, never a part of the number.
        #[test]
        fn a_spelling_gives_its_number_or_none(
            groups in prop::collection::vec(0u32..1000, 1..4), joint in prop::sample::select(vec![",", ".", "_", "'", "\u{a0}", ""])
        ) {
            let spelled = groups.iter().map(u32::to_string).collect::<Vec<_>>().join(joint);
            for (pattern, text) in [
                ("took {value} ms", format!("took {spelled} ms")),
                ("took {value}", format!("took {spelled}")),
                ("{value} ms", format!("{spelled} ms")),
            ] {
                let found = find(pattern, &text, Take::Only);
                prop_assert!(found.is_err() || found == Ok(spelled.parse().unwrap_or(f64::NAN)), "{}: {:?}", text, found);
            }
        }

        #[test]
        fn any_output_is_answered(text in "\\PC{0,80}") {
            let _ = find("a {value}", &text, Take::Last);
            let _ = find("{value} a", &text, Take::Only);
        }
    }
}
