//! The lines of a text, and what each starts with.

use crate::read::source::Span;

/// A line without its end, and what it starts with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    pub span: Span,
    pub blank: bool,
    /// How many bytes of indent and bullet stand before its words; 0 unless it is a list item.
    pub bullet: usize,
    pub fence: bool,
    /// Between fences, or in a literal block of reStructuredText.
    pub code: bool,
    pub hashes: usize,
}

impl Line {
    /// How many bytes of white space it begins with.
    pub(crate) fn indent(&self, text: &str) -> usize {
        let body = self.span.of(text);
        body.len() - body.trim_start().len()
    }
}

pub(crate) fn lines(text: &str) -> Vec<Line> {
    let mut at = 0;
    let mut fenced = false;
    let mut lines: Vec<Line> = text
        .split('\n')
        .map(|raw| {
            let start = at;
            at += raw.len() + 1;
            let line = raw.strip_suffix('\r').unwrap_or(raw);
            let body = line.trim_start();
            let indent = line.len() - body.len();
            let fence = body.starts_with("```") || body.starts_with("~~~");
            fenced ^= fence;
            Line {
                span: Span::new(start, start + line.len()),
                blank: body.is_empty(),
                bullet: bullet(body).map_or(0, |b| indent + b),
                fence,
                code: fenced && !fence,
                hashes: hashes(body),
            }
        })
        .collect();
    literal(text, &mut lines);
    lines
}

/// Directives of reStructuredText whose content is code.
const CODE: [&str; 4] = [".. code-block::", ".. code::", ".. sourcecode::", ".. parsed-literal::"];

/// Marks what stands deeper than a line that ends in two colons, or than a directive for code.
fn literal(text: &str, lines: &mut [Line]) {
    let mut at = 0;
    while at < lines.len() {
        let body = lines[at].span.of(text).trim();
        let directive = CODE.iter().any(|d| body.starts_with(d));
        let opens = body.ends_with("::") && !body.starts_with("..") || directive;
        at += 1;
        if !opens || lines[at - 1].code || !lines.get(at).is_some_and(|l| l.blank || directive) {
            continue;
        }
        let own = lines[at - 1].indent(text);
        while at < lines.len()
            && !lines[at].fence
            && (lines[at].blank || lines[at].indent(text) > own)
        {
            lines[at].code = !lines[at].blank;
            at += 1;
        }
    }
}

/// The length of a bullet or item number, with the space after it.
fn bullet(body: &str) -> Option<usize> {
    let mut characters = body.chars();
    let first = characters.next()?;
    if matches!(first, '•' | '*' | '-' | '+' | '·' | '‣' | '◦' | '–') {
        return characters
            .next()
            .filter(|c| c.is_whitespace())
            .map(|c| first.len_utf8() + c.len_utf8());
    }
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let after = &body[digits..];
    ((1..=2).contains(&digits) && (after.starts_with(". ") || after.starts_with(") ")))
        .then_some(digits + 2)
}

fn hashes(body: &str) -> usize {
    let count = body.bytes().take_while(|b| *b == b'#').count();
    if (1..=6).contains(&count) && body[count..].starts_with(' ') { count } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::lines;

    fn code(text: &str) -> Vec<usize> {
        let lines = lines(text);
        (0..lines.len()).filter(|i| lines[*i].code).collect()
    }

    #[test]
    fn code_is_between_fences_and_in_literal_blocks() {
        assert_eq!(code("a\n```\nb\n```\nc\n"), [2]);
        assert_eq!(code("We ran::\n\n    $ a\n\n    b\n\nand\n"), [2, 4]);
        assert_eq!(code(".. code-block:: console\n   :linenos:\n\n   $ a\nb\n"), [1, 3]);
        assert_eq!(code("std::\n  a\n.. note::\n\n   b\n::"), [0; 0]);
    }
}
