//! Finds a number in a program's output by the text around it: `compressed: {value} MB/s`.

use std::ops::Range;

use assay_model::units::DIGIT_JOINTS;
use regex_lite::{Captures, Regex, escape};
use serde::Deserialize;

/// Placeholders of the number, of its name, and of a word that does not matter.
const HOLE: &str = "{value}";
pub(crate) const NAME: &str = "{name}";
const ANY: &str = "{_}";
/// Numbers that a placeholder matches.
const NUMBER: &str = r"([-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?)";

/// Choice among several matches of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Take {
    /// The only match; several are an error.
    #[default]
    Only,
    First,
    Last,
}

/// Result of finding a number by a pattern.
type Result<T, E = PatternError> = std::result::Result<T, E>;

/// Reason why a pattern is invalid or finds no number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error("the pattern `{pattern}` {mistake}; write one such as `took {HOLE} ms`")]
    Malformed { pattern: String, mistake: &'static str },
    #[error("the pattern `{pattern}` is no regular expression: {source}")]
    Regex { pattern: String, source: regex_lite::Error },
    #[error("nothing matches `{0}`")]
    NoMatch(String),
    #[error("{places} places match `{pattern}`; it must match one")]
    Ambiguous { places: usize, pattern: String },
    #[error(
        "`{0}` is not a number that assay reads: have the program print digits with a decimal \
         point and nothing between them, as with LC_ALL=C"
    )]
    NotANumber(String),
}

/// Text with one placeholder for a number, in which a run of whitespace matches any run of
/// whitespace; or a regular expression with one group.
#[derive(Debug)]
pub struct Pattern {
    text: String,
    regex: Regex,
    /// Group of the name, if the pattern has one.
    name: Option<usize>,
    /// Group of the number.
    value: usize,
    /// Characters of the pattern next to the number; a separator there ends the number.
    before: Option<char>,
    after: Option<char>,
}

/// A number in a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FoundNumber<'a> {
    pub value: f64,
    /// Text that matches `{name}`.
    pub name: Option<&'a str>,
    /// Rest of the line after the number.
    pub rest: &'a str,
}

impl Pattern {
    /// Parses a pattern with one `{value}`, at most one `{name}` and any number of `{_}`.
    ///
    /// # Errors
    /// Fails if `{value}` does not occur exactly once, or if there is no other text.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let wrong = |mistake| Err(PatternError::Malformed { pattern: text.to_owned(), mistake });
        let Some((before, after)) = text.split_once(HOLE) else { return wrong("has no {value}") };
        if after.contains(HOLE) {
            return wrong("has more than one {value}");
        }
        if before.trim().is_empty() && after.trim().is_empty() {
            return wrong("has no words around {value}");
        }
        if text.matches(NAME).count() > 1 {
            return wrong("has more than one {name}");
        }
        let pattern = format!("{}{NUMBER}{}", expression(before), expression(after));
        let (name, value) = match (before.contains(NAME), after.contains(NAME)) {
            (true, _) => (Some(1), 2),
            (_, true) => (Some(2), 1),
            _ => (None, 1),
        };
        let (before, after) = (before.chars().next_back(), after.chars().next());
        let regex = Regex::new(&pattern);
        let regex = regex.map_err(|source| PatternError::Regex { pattern, source })?;
        Ok(Pattern { text: text.to_owned(), regex, name, value, before, after })
    }

    /// Parses a pattern with `{value}`, or a regular expression with one group.
    ///
    /// # Errors
    /// Fails if the text is neither.
    pub fn parse_any(text: &str) -> Result<Self> {
        if text.contains(HOLE) {
            return Self::parse(text);
        }
        let pattern = text.to_owned();
        match Regex::new(text) {
            Err(source) => Err(PatternError::Regex { pattern, source }),
            Ok(regex) if regex.captures_len() == 2 => {
                // The expression may begin or end anywhere within a number.
                let beside = Some(' ');
                Ok(Pattern {
                    text: pattern,
                    regex,
                    name: None,
                    value: 1,
                    before: beside,
                    after: beside,
                })
            }
            Ok(_) => {
                let mistake = "has neither {value} nor one group, as in `took ([0-9.]+) ms`";
                Err(PatternError::Malformed { pattern, mistake })
            }
        }
    }

    /// Returns the number at which the pattern matches within a line of `text`.
    ///
    /// # Errors
    /// Fails if no line matches, or if several do and `take` does not choose one.
    pub(crate) fn find<'a>(&self, text: &'a str, take: Take) -> Result<FoundNumber<'a>> {
        let mut found = self.all(text);
        let none = || PatternError::NoMatch(self.text.clone());
        match take {
            Take::First => found.next().ok_or_else(none)?,
            Take::Last => found.last().ok_or_else(none)?,
            Take::Only => {
                let value = found.next().ok_or_else(none)?;
                match found.count() {
                    0 => value,
                    more => Err(PatternError::Ambiguous {
                        places: more + 1,
                        pattern: self.text.clone(),
                    }),
                }
            }
        }
    }

    /// Returns all numbers at which the pattern matches within a line; a number that is part of a
    /// longer number is an error.
    pub(crate) fn all<'a>(&self, text: &'a str) -> impl Iterator<Item = Result<FoundNumber<'a>>> {
        let in_line = move |line: &'a str| {
            self.regex.captures_iter(line).map(move |found| self.number(line, &found))
        };
        text.lines().flat_map(in_line)
    }

    fn number<'a>(&self, line: &'a str, found: &Captures<'a>) -> Result<FoundNumber<'a>> {
        let at = found.get(self.value).map_or(0..0, |group| group.range());
        let whole = self.spelled(line, at.clone());
        let text = &line[whole.clone()];
        let value = text.parse::<f64>().ok().filter(|v| whole == at && v.is_finite());
        let value = value.ok_or_else(|| PatternError::NotANumber(text.to_owned()))?;
        let name = self.name.and_then(|group| found.get(group)).map(|group| group.as_str());
        Ok(FoundNumber { value, name, rest: &line[at.end..] })
    }

    /// Returns the whole extent of the number at `at`, including further digits, thousands
    /// separators, a decimal comma, an exponent or `0x`. A separator in the pattern next to the
    /// number ends the number there.
    fn spelled(&self, line: &str, at: Range<usize>) -> Range<usize> {
        let Range { mut start, mut end } = at;
        let joint = |c: Option<char>| c.is_some_and(|c| DIGIT_JOINTS.contains(c));
        if !joint(self.after) {
            end += digits(line[end..].chars());
            while let Some(more) = joined_after(&line[start..end], &line[end..]) {
                end += more;
            }
        }
        if !joint(self.before) {
            let part = |c: &char| c.is_ascii_digit() || *c == '.';
            start -= line[..start].chars().rev().take_while(part).count();
            // If the pattern starts with the number, a blank may be a thousands separator, too.
            let loose = self.before.is_none();
            while let Some(more) = joined_before(&line[..start], &line[start..end], loose) {
                start -= more;
            }
        }
        start..end
    }
}

/// Returns the regular expression of a text in which a blank matches any blanks.
fn expression(text: &str) -> String {
    let words = text.split(char::is_whitespace).map(|word| {
        let named = escape(word).replace(&escape(NAME), r"(\S+)");
        named.replace(&escape(ANY), r"\S+")
    });
    words.collect::<Vec<_>>().join(r"\s+")
}

/// Returns the length of a separator and the digits after it, at the start of `after`, that
/// continue `number`.
fn joined_after(number: &str, after: &str) -> Option<usize> {
    let joint = after.chars().next()?;
    let behind = &after[joint.len_utf8()..];
    let digits = match joint {
        'x' | 'X' if number == "0" => behind.bytes().take_while(u8::is_ascii_hexdigit).count(),
        'e' | 'E' if !number.contains(['e', 'E']) => {
            let sign = usize::from(behind.starts_with(['+', '-']));
            let exponent = digits(behind[sign..].chars());
            if exponent > 0 { sign + exponent } else { 0 }
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn find(pattern: &str, text: &str, take: Take) -> Result<f64, String> {
        Pattern::parse(pattern)
            .unwrap()
            .find(text, take)
            .map(|n| n.value)
            .map_err(|e| e.to_string())
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
    fn a_regular_expression_gives_whole_numbers_too() {
        let find = |pattern: &str, text: &str| {
            let pattern = Pattern::parse_any(pattern).unwrap();
            pattern.find(text, Take::Only).map(|n| (n.value, n.rest.to_owned()))
        };
        assert_eq!(find(r"took ([\d.]+)", "took 12.5 ms").unwrap(), (12.5, " ms".to_owned()));
        for text in ["took 12,5 ms", "took 1e5 ms", "took 1e-3", "took 1'000"] {
            assert!(find(r"took ([\d.]+)", text).is_err(), "{text}");
            assert!(find(r"took (\d)", text).is_err(), "{text}");
        }
        for wrong in ["took", "(a)(b)", "(", "{value}"] {
            assert!(Pattern::parse_any(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lines_of_a_table_give_numbers_with_names() {
        let text = "BenchmarkX-2  \t 19012\t  5446 ns/op\nBenchmarkY/a-b-2 7 1.5e3 ns/op\nPASS\n";
        let pattern = Pattern::parse("Benchmark{name}-{_} {_} {value} ns/op").unwrap();
        let found: Vec<_> = pattern.all(text).map(|n| n.map(|n| (n.name, n.value))).collect();
        assert_eq!(found, [Ok((Some("X"), 5446.0)), Ok((Some("Y/a-b"), 1500.0))]);
        let pattern = Pattern::parse("{value} of {name} in {_} s").unwrap();
        let found = pattern.find("3 of alpha in 4 s", Take::Only).unwrap();
        assert_eq!((found.value, found.name), (3.0, Some("alpha")));
        assert!(Pattern::parse("{name} {name} {value}").is_err());
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
            groups in prop::collection::vec(0u32..1000, 1..4),
            joint in prop::sample::select(vec![",", ".", "_", "'", "\u{a0}", ""])
        ) {
            let spelled = groups.iter().map(u32::to_string).collect::<Vec<_>>().join(joint);
            for (pattern, text) in [
                ("took {value} ms", format!("took {spelled} ms")),
                ("took {value}", format!("took {spelled}")),
                ("{value} ms", format!("{spelled} ms")),
            ] {
                let found = find(pattern, &text, Take::Only);
                prop_assert!(found.is_err() || found == Ok(spelled.parse().unwrap_or(f64::NAN)),
                    "{}: {:?}", text, found);
            }
        }

        #[test]
        fn any_output_is_answered(text in "\\PC{0,80}") {
            let _ = find("a {value}", &text, Take::Last);
            let _ = find("{value} a", &text, Take::Only);
        }
    }
}
