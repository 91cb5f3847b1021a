//! Lines cut into the cells that they may have: where two spaces or a tab are, or at every space.

use std::ops::Range;

use crate::evidence::amount::{self, Dimension};
use crate::read::line::Line;
use crate::read::source::Span;

/// Words of a line that stand together, with the places where they begin and end as they are seen.
#[derive(Debug, Clone)]
pub(super) struct Chunk {
    pub span: Span,
    pub from: usize,
    pub to: usize,
    pub numeric: bool,
    /// Two spaces or more are before it.
    pub apart: bool,
}

impl Chunk {
    pub(super) fn overlaps(&self, column: &Range<usize>) -> bool {
        self.from < column.end && column.start < self.to
    }
}

/// Lines with more cells are no tables that a sentence could be about.
pub(super) const MAX_CHUNKS: usize = 40;

/// The words of a line, each by itself.
pub(super) fn every(text: &str, line: &Line) -> Vec<Chunk> {
    let body = line.span.of(text);
    let mut found = Vec::new();
    let (mut at, mut seen) = (0, 0);
    for word in body.split_inclusive(char::is_whitespace) {
        let core = word.trim();
        if !core.is_empty() {
            let span = Span::new(line.span.start + at, line.span.start + at + core.len());
            let to = seen + core.chars().count();
            found.push(Chunk { span, from: seen, to, numeric: is_value(core), apart: true });
        }
        at += word.len();
        seen += word.chars().map(|c| if c == '\t' { 8 } else { 1 }).sum::<usize>();
    }
    found
}

/// Cuts a line where two spaces or a tab are, and between two numbers; a spread goes with its value.
pub(super) fn chunks(text: &str, line: &Line) -> Vec<Chunk> {
    let body = line.span.of(text);
    let mut found: Vec<Chunk> = Vec::new();
    if body.len() > 400 {
        return found;
    }
    let (mut at, mut seen, mut gap) = (0, 0, 2);
    for word in body.split_inclusive(char::is_whitespace) {
        let core = word.trim();
        let wide = word.chars().count();
        if !core.is_empty() {
            let span = Span::new(line.span.start + at, line.span.start + at + core.len());
            let to = seen + core.chars().count();
            let numeric = is_value(core);
            let joins = found.last().is_some_and(|last| {
                let before = last.span.of(text);
                let spread =
                    |s: &str| s.ends_with(['±']) || s.ends_with("+/-") || s.ends_with("+-");
                spread(before)
                    || matches!(core, "±" | "+/-" | "+-") && last.numeric
                    || gap < 2 && !(last.numeric && numeric && !goes_on(before, core))
            });
            match found.last_mut() {
                Some(last) if joins => {
                    last.span.end = span.end;
                    last.to = to;
                    last.numeric = is_value(last.span.of(text));
                }
                _ => found.push(Chunk { span, from: seen, to, numeric, apart: gap > 1 }),
            }
            gap = 0;
        }
        gap += word[core.len()..].chars().map(|c| if c == '\t' { 8 } else { 1 }).sum::<usize>();
        at += word.len();
        seen += wide + word.chars().filter(|c| *c == '\t').count() * 7;
        if found.len() > MAX_CHUNKS {
            return Vec::new();
        }
    }
    found
}

/// Whether a value is a time that goes on with its next number: "3 h" with "20" of "20 min".
fn goes_on(time: &str, next: &str) -> bool {
    let digits = next.trim_end_matches(char::is_alphabetic);
    let whole = format!("{time} {digits} {}", if time.ends_with('h') { "min" } else { "s" });
    time.ends_with(['h', 'm', 'n'])
        && digits.len() <= 4
        && amount::of_cell(&whole, None).is_some_and(|(a, _)| a.dimension() == Dimension::Time)
}

/// Whether words are a value, or say that there is none.
fn is_value(words: &str) -> bool {
    // "8 threads" is a name as well.
    let value =
        amount::of_cell(words, None).is_some_and(|(a, _)| a.dimension() != Dimension::Count);
    value || matches!(words, "-" | "--" | "—" | "–" | "~" | "n/a" | "N/A")
}
