//! Resolves other spellings in a text: HTML entities, JSON escapes, percent codes, and invisible
//! characters. Secrets are searched for in the plain spelling and replaced in the original text.

use std::ops::Range;

use super::rules::RULES;

/// A text in plain spelling.
pub(crate) struct PlainText {
    pub text: String,
    /// Positions in both texts at which equal characters start again.
    anchors: Vec<(usize, usize)>,
}

impl PlainText {
    /// Converts a text to plain spelling; `None` if it is plain already.
    pub(crate) fn convert(text: &str) -> Option<PlainText> {
        let mut plain = PlainText { text: String::new(), anchors: Vec::new() };
        let (mut done, mut from) = (0, 0);
        let odd = |b: &u8| matches!(b, b'%' | b'&' | b'\\' | b'\x1b' | 0xc2 | 0xe2 | 0xef);
        while let Some(at) = text.as_bytes()[from..].iter().position(odd).map(|i| from + i) {
            from = at + 1;
            let Some((len, as_text)) = respelled(&text[at..]) else { continue };
            plain.text.push_str(&text[done..at]);
            plain.text.push_str(as_text);
            done = at + len;
            from = done;
            plain.anchors.push((plain.text.len(), done));
        }
        (done > 0).then(|| {
            plain.text.push_str(&text[done..]);
            plain
        })
    }

    /// Returns the range of the original text that corresponds to a range of the plain text.
    pub(crate) fn original(&self, range: Range<usize>) -> Range<usize> {
        let place = |at: usize| {
            let before = self.anchors.partition_point(|(plain, _)| *plain <= at);
            before.checked_sub(1).map_or(at, |i| self.anchors[i].1 + at - self.anchors[i].0)
        };
        place(range.start)..place(range.end - 1) + 1
    }
}

/// Returns the length of another spelling at the start of a text, and the plain one.
fn respelled(text: &str) -> Option<(usize, &'static str)> {
    if let Some(codes) = text.strip_prefix("\x1b[") {
        let end = codes.find(|c: char| !matches!(c, '0'..='9' | ';')).unwrap_or(codes.len());
        let letter = codes[end..].starts_with(|c: char| c.is_ascii_alphabetic());
        return Some((2 + end + usize::from(letter), ""));
    }
    if let Some(c) = text.chars().next().filter(|c| is_unseen(*c)) {
        return Some((c.len_utf8(), ""));
    }
    let blanks = [("\\n", "\n"), ("\\r", "\r"), ("\\t", "\t")];
    let alias = RULES.alias.iter().map(|row| (row[0], row[1])).chain(blanks);
    let mut alias = alias.filter(|(name, _)| text.starts_with(name));
    alias.next().map(|(name, as_text)| (name.len(), as_text))
}

/// True for zero-width characters, direction marks, and the soft hyphen.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}
