//! Finds a number in a program's output by the words around it: `compressed: {value} MB/s`.

use super::format::Take;

/// The place of the number in a pattern.
const HOLE: &str = "{value}";

/// Words with one hole for a number. A run of blanks matches any run of blanks.
#[derive(Debug)]
pub(crate) struct Pattern {
    before: String,
    after: String,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// There is not exactly one `{value}` in it, or nothing but it; as a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| {
            Err(format!("the pattern `{text}` {what}; write one such as `took {HOLE} ms`"))
        };
        match text.split_once(HOLE) {
            None => wrong("has no {value}"),
            Some((_, after)) if after.contains(HOLE) => wrong("has more than one {value}"),
            Some((before, after)) if before.trim().is_empty() && after.trim().is_empty() => {
                wrong("has no words around {value}")
            }
            Some((before, after)) => Ok(Pattern { before: before.into(), after: after.into() }),
        }
    }

    /// The number where the pattern matches within a line of `text`.
    ///
    /// # Errors
    /// No line matches, or several do and `take` does not choose; as a sentence.
    pub fn find(&self, text: &str, take: Take) -> Result<f64, String> {
        let mut found = text.lines().flat_map(|line| self.in_line(line));
        let none = || format!("nothing matches `{}{HOLE}{}`", self.before, self.after);
        match take {
            Take::First => found.next().ok_or_else(none),
            Take::Last => found.last().ok_or_else(none),
            Take::Only => {
                let value = found.next().ok_or_else(none)?;
                match found.count() {
                    0 => Ok(value),
                    more => Err(format!(
                        "{} places match `{}{HOLE}{}`; make the pattern longer or set `take`",
                        more + 1,
                        self.before,
                        self.after
                    )),
                }
            }
        }
    }

    fn in_line(&self, line: &str) -> Vec<f64> {
        let mut found = Vec::new();
        let mut start = 0;
        while start <= line.len() {
            let rest = &line[start..];
            let step = rest.chars().next().map_or(1, char::len_utf8);
            // A number is taken from its beginning only, never from its middle.
            let inside = self.before.is_empty()
                && line[..start]
                    .chars()
                    .next_back()
                    .is_some_and(|c| c.is_ascii_digit() || c == '.');
            match self.at(rest).filter(|_| !inside) {
                Some((value, length)) => {
                    found.push(value);
                    start += length.max(step);
                }
                None => start += step,
            }
        }
        found
    }

    /// The number and the length of the match, if `text` begins with the pattern.
    fn at(&self, text: &str) -> Option<(f64, usize)> {
        let rest = strip(text, &self.before)?;
        let (value, rest) = number(rest)?;
        let rest = strip(rest, &self.after)?;
        Some((value, text.len() - rest.len()))
    }
}

/// What follows `words` at the beginning of `text`.
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

/// The longest finite number at the beginning of `text`, and what follows it.
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
        Pattern::parse(pattern).unwrap().find(text, take)
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

        #[test]
        fn any_output_is_answered(text in "\\PC{0,80}") {
            let _ = find("a {value}", &text, Take::Last);
            let _ = find("{value} a", &text, Take::Only);
        }
    }
}
