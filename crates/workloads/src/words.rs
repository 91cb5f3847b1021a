//! Converts a command line, as a person types it, to an argument list and back. No shell is
//! involved, so constructs that need one (pipes, variables, patterns) are errors instead of being
//! passed on as text with another meaning.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Reason why a command line cannot be split into words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WordsError {
    /// A quote was opened and never closed.
    #[error("the quote {quote} at character {at} is not closed")]
    OpenQuote {
        /// Kind of quote: `'`, `"` or `$'`.
        quote: &'static str,
        /// Position of the character, from 1.
        at: usize,
    },
    /// A backslash with nothing after it.
    #[error("the line ends in a backslash with nothing after it")]
    OpenEscape,
    /// An unknown escape inside `$'...'`.
    #[error(
        "`\\{escape}` at character {at} is unknown; in $'...' write \\\\, \\', \\n, \\t or \\xHH"
    )]
    Escape {
        /// Text after the backslash.
        escape: String,
        /// Position of the character, from 1.
        at: usize,
    },
    /// A construct that only a shell can interpret.
    #[error(
        "`{what}` at character {at} only means something to a shell; quote it, or use one: \
        `--shell sh` (`shell = \"sh\"`){}",
        if *what == '<' { "; `--stdin FILE` is what `< FILE` is" } else { "" }
    )]
    NeedsShell {
        /// The character that needs a shell.
        what: char,
        /// Position of the character, from 1.
        at: usize,
    },
}

/// Splits a command line into words as a POSIX shell does: blanks separate words, `'...'` keeps
/// everything, `"..."` keeps everything except the escapes `\"`, `\\`, `\$` and `` \` ``, a
/// backslash keeps the next character, and `$'...'` interprets the escapes `\\`, `\'`, `\n`, `\t`
/// and `\xHH` (a byte).
///
/// # Errors
/// Fails for an open quote, an unknown escape, or a character that would need a shell.
pub fn split_words(line: &str) -> Result<Vec<OsString>, WordsError> {
    let mut splitter = Splitter { chars: line.trim().chars().collect(), at: 0, word: None };
    let mut words = Vec::new();
    while let Some(c) = splitter.next() {
        match c {
            ' ' | '\t' | '\r' => words.extend(splitter.word.take()),
            '\\' => match splitter.next().ok_or(WordsError::OpenEscape)? {
                '\n' => {}
                other => splitter.push(other),
            },
            '\'' => splitter.single()?,
            '"' => splitter.double()?,
            '$' if splitter.peek() == Some('\'') => splitter.bytes()?,
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' | '*' | '?' | '[' | '\n' => {
                return Err(splitter.needs_shell(c));
            }
            '~' | '#' if splitter.word.is_none() => return Err(splitter.needs_shell(c)),
            other => splitter.push(other),
        }
    }
    words.extend(splitter.word.take());
    Ok(words.into_iter().map(OsString::from_vec).collect())
}

struct Splitter {
    chars: Vec<char>,
    at: usize,
    word: Option<Vec<u8>>,
}

impl Splitter {
    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn push(&mut self, c: char) {
        let mut buffer = [0; 4];
        self.open().extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
    }

    /// Returns the current word and starts one if there is none: empty quotes are an empty word.
    fn open(&mut self) -> &mut Vec<u8> {
        self.word.get_or_insert_default()
    }

    fn needs_shell(&self, what: char) -> WordsError {
        WordsError::NeedsShell { what, at: self.at }
    }

    fn single(&mut self) -> Result<(), WordsError> {
        let at = self.at;
        self.open();
        loop {
            match self.next().ok_or(WordsError::OpenQuote { quote: "'", at })? {
                '\'' => return Ok(()),
                other => self.push(other),
            }
        }
    }

    fn double(&mut self) -> Result<(), WordsError> {
        let at = self.at;
        let unclosed = WordsError::OpenQuote { quote: "\"", at };
        self.open();
        loop {
            match self.next().ok_or_else(|| unclosed.clone())? {
                '"' => return Ok(()),
                c @ ('$' | '`') => return Err(self.needs_shell(c)),
                '\\' => match self.next().ok_or_else(|| unclosed.clone())? {
                    '\n' => {}
                    c @ ('"' | '\\' | '$' | '`') => self.push(c),
                    other => {
                        self.push('\\');
                        self.push(other);
                    }
                },
                other => self.push(other),
            }
        }
    }

    fn bytes(&mut self) -> Result<(), WordsError> {
        let at = self.at;
        let unclosed = WordsError::OpenQuote { quote: "$'", at };
        self.next();
        self.open();
        loop {
            match self.next().ok_or_else(|| unclosed.clone())? {
                '\'' => return Ok(()),
                '\\' => match self.next().ok_or_else(|| unclosed.clone())? {
                    c @ ('\\' | '\'') => self.push(c),
                    'n' => self.push('\n'),
                    't' => self.push('\t'),
                    'x' => {
                        let at = self.at;
                        let digits: String = self.chars[at..].iter().take(2).collect();
                        let byte = u8::from_str_radix(&digits, 16).ok().filter(|b| *b != 0);
                        let (Some(byte), 2) = (byte, digits.chars().count()) else {
                            return Err(WordsError::Escape { escape: format!("x{digits}"), at });
                        };
                        self.at += 2;
                        self.open().push(byte);
                    }
                    other => {
                        let at = self.at;
                        return Err(WordsError::Escape { escape: other.into(), at });
                    }
                },
                other => self.push(other),
            }
        }
    }
}

/// Formats an argument list as one line from which [`split_words`] returns the same list. Words of
/// harmless characters stay as they are, others are quoted; bytes that are not UTF-8 become
/// `$'\xHH'`.
pub fn quote_words<W: AsRef<OsStr>>(words: &[W]) -> String {
    words.iter().map(|w| quote_word(w.as_ref())).collect::<Vec<_>>().join(" ")
}

fn quote_word(word: &OsStr) -> String {
    let Some(text) = word.to_str() else {
        let mut out = String::from("$'");
        for chunk in word.as_bytes().utf8_chunks() {
            for c in chunk.valid().chars() {
                if matches!(c, '\\' | '\'') {
                    out.push('\\');
                }
                out.push(c);
            }
            for byte in chunk.invalid() {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
        out.push('\'');
        return out;
    };
    let plain = |c: char| c.is_alphanumeric() || "-_./,:=+@%^".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(line: &str) -> Vec<String> {
        split_words(line).unwrap().into_iter().map(|w| w.into_string().unwrap()).collect()
    }

    #[test]
    fn splits_as_a_shell_does() {
        assert_eq!(split("  zstd -3   'a b' \n"), ["zstd", "-3", "a b"]);
        assert_eq!(split(r#"a"b c"'d e'f"#), ["ab cd ef"]);
        assert_eq!(split(r#""" '' x"#), ["", "", "x"]);
        assert_eq!(split(r#"a\ b "q\"\\\n" \|"#), ["a b", "q\"\\\\n", "|"]);
        assert_eq!(split("x=1 a#b u~/x~"), ["x=1", "a#b", "u~/x~"]);
        assert_eq!(split(r"$'it\'s\x41\n'"), ["it'sA\n"]);
        assert_eq!(split("a\\\nb"), ["ab"]);
        assert!(split("  ").is_empty());
    }

    #[test]
    fn refuses_what_needs_a_shell_and_what_is_open() {
        for line in ["a | b", "a > f", "$HOME", "\"$HOME\"", "*.c", "~/x", "a; b", "a\nb", "# no"] {
            let error = split_words(line).unwrap_err();
            assert!(matches!(error, WordsError::NeedsShell { .. }), "{line}: {error}");
        }
        for line in ["'a", "\"a", "$'a", "\"a\\"] {
            let error = split_words(line).unwrap_err();
            assert!(matches!(error, WordsError::OpenQuote { .. }), "{line}: {error}");
        }
        assert_eq!(split_words("a\\"), Err(WordsError::OpenEscape));
        for line in [r"$'\q'", r"$'\xZZ'", r"$'\x4'", r"$'\x00'"] {
            assert!(matches!(split_words(line), Err(WordsError::Escape { .. })), "{line}");
        }
    }

    proptest! {
        #[test]
        fn quoted_words_come_back(words in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(1u8..=255, 0..12),
                "[ -~\\n\\t]{0,12}".prop_map(String::into_bytes),
                "\\PC{0,8}".prop_map(String::into_bytes),
            ], 0..6)) {
            let words: Vec<OsString> = words.into_iter().map(OsString::from_vec).collect();
            prop_assert_eq!(split_words(&quote_words(&words)).unwrap(), words);
        }

        #[test]
        fn any_line_is_answered(line in ".{0,60}") {
            let _ = split_words(&line);
        }
    }
}
