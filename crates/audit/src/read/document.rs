//! The shape of a text: headings, paragraphs, list items, code, the sentences in them, and where
//! lines look like rows of a table.

use crate::read::line::{Line, lines};
use crate::read::source::Span;
use crate::read::table::{self, Table};

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Heading,
    Paragraph,
    Item,
}

/// A run of prose.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub kind: BlockKind,
    pub span: Span,
    /// Part of a disclosure: a place where results are restated for the record.
    pub disclosure: bool,
}

/// A sentence, heading or disclosure item, with its block's place in [`Document::blocks`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sentence {
    pub span: Span,
    pub block: usize,
}

/// A text taken apart.
#[derive(Debug, Clone)]
pub(crate) struct Document<'a> {
    pub text: &'a str,
    pub blocks: Vec<Block>,
    pub sentences: Vec<Sentence>,
    pub tables: Vec<Table>,
}

/// Takes a text apart.
pub(crate) fn document(text: &str) -> Document<'_> {
    let lines = lines(text);
    let (tables, taken) = table::find(text, &lines);
    let blocks = blocks(text, &lines, &taken);
    let sentences = blocks
        .iter()
        .enumerate()
        .flat_map(|(block, b)| split(text, b).into_iter().map(move |span| Sentence { span, block }))
        .collect();
    Document { text, blocks, sentences, tables }
}

fn blocks(text: &str, lines: &[Line], taken: &[bool]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Option<(BlockKind, Span)> = None;
    let mut disclosure = false;
    let mut close = |open: &mut Option<(BlockKind, Span)>, disclosure: &mut bool| {
        let Some((kind, span)) = open.take() else { return };
        let words = span.of(text).to_lowercase();
        if kind == BlockKind::Heading {
            *disclosure = words.contains("disclosure") || words.contains("substantiation");
        }
        if is_code(&words) {
            return;
        }
        let own = *disclosure || words.contains("registered trademark") || words.contains("reg tm");
        blocks.push(Block { kind, span, disclosure: own && kind != BlockKind::Heading });
    };
    for (i, line) in lines.iter().enumerate() {
        if line.fence {
            close(&mut open, &mut disclosure);
            continue;
        }
        if line.code && line.span.of(text).contains(" times faster than ") {
            // The summary of hyperfine is a sentence: "A ran", "3.5 ± 0.1 times faster than B".
            let ran =
                (0..i).rev().take(6).find(|j| lines[*j].span.of(text).trim_end().ends_with(" ran"));
            let start = ran.map_or(line.span.start, |j| lines[j].span.start);
            open = Some((BlockKind::Paragraph, Span::new(start, line.span.end)));
            close(&mut open, &mut disclosure);
            continue;
        }
        if line.code || line.blank || taken[i] {
            close(&mut open, &mut disclosure);
            continue;
        }
        if line.hashes > 0 || is_heading(text, lines, taken, i) {
            close(&mut open, &mut disclosure);
            open =
                Some((BlockKind::Heading, Span::new(line.span.start + line.hashes, line.span.end)));
            close(&mut open, &mut disclosure);
        } else if line.bullet > 0 {
            close(&mut open, &mut disclosure);
            open = Some((BlockKind::Item, Span::new(line.span.start + line.bullet, line.span.end)));
        } else if let Some((_, span)) = &mut open {
            span.end = line.span.end;
        } else {
            open = Some((BlockKind::Paragraph, line.span));
        }
    }
    close(&mut open, &mut disclosure);
    blocks
}

/// Whether words are a program: braces with semicolons, or many signs of languages.
fn is_code(words: &str) -> bool {
    let signs = words
        .bytes()
        .filter(|b| {
            matches!(
                b,
                b'{' | b'}'
                    | b';'
                    | b'='
                    | b'['
                    | b']'
                    | b'&'
                    | b'|'
                    | b'@'
                    | b'\\'
                    | b'<'
                    | b'>'
                    | b'$'
            )
        })
        .count();
    (words.contains('{') && words.contains(';') && signs * 100 > words.len() * 4)
        || (words.len() > 20 && signs * 100 > words.len() * 8)
}

/// A short line alone between blank ones that does not end like a sentence.
fn is_heading(text: &str, lines: &[Line], taken: &[bool], i: usize) -> bool {
    let free =
        |j: Option<usize>| j.is_none_or(|j| lines.get(j).is_none_or(|l| l.blank || taken[j]));
    let line = lines[i].span.of(text).trim();
    lines[i].bullet == 0
        && free(i.checked_sub(1))
        && free(Some(i + 1))
        && line.len() <= 140
        && !line.ends_with(['.', ';', ',', ')', '>', ':'])
        && !line.contains(". ")
        && line.chars().next().is_some_and(char::is_alphanumeric)
}

/// Abbreviations whose full stop ends no sentence.
const ABBREVIATIONS: [&str; 16] = [
    "e.g", "i.e", "vs", "etc", "no", "fig", "inc", "corp", "approx", "cf", "al", "resp", "ver",
    "mr", "dr", "max",
];

/// Cuts a block into sentences; in a disclosure also at semicolons.
fn split(text: &str, block: &Block) -> Vec<Span> {
    let piece = block.span.of(text);
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut characters = piece.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|(_, n)| *n);
        let ends = match c {
            '.' => {
                next.is_none_or(|n| n.is_whitespace() || n == '[')
                    && !abbreviated(&piece[start..at])
            }
            '!' | '?' => next.is_none_or(char::is_whitespace),
            ';' => block.disclosure,
            '\n' => line_ends(piece, at),
            _ => false,
        };
        if ends {
            let end = at + c.len_utf8();
            push(&mut sentences, piece, block.span.start, start, end);
            start = end;
        }
    }
    push(&mut sentences, piece, block.span.start, start, piece.len());
    sentences
}

fn abbreviated(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("");
    let word = word.to_lowercase();
    // "0.664 s." ends a sentence: the letter is a unit.
    let unit = before.len() > word.len()
        && before[..before.len() - word.len()].trim_end().ends_with(|c: char| c.is_ascii_digit());
    ABBREVIATIONS.contains(&word.as_str())
        || (word.len() == 1 && word.chars().all(char::is_alphabetic) && !unit)
}

/// Whether a line break also ends a sentence: the line before is short, and the next starts anew.
fn line_ends(piece: &str, at: usize) -> bool {
    let before = piece[..at].rsplit('\n').next().unwrap_or("").trim_end();
    let after = piece[at + 1..].trim_start();
    let anew = after.chars().next().is_some_and(|c| c.is_uppercase() || c == '[');
    anew && (before.ends_with([':', '.', ';', ']']) || before.chars().count() < 60)
}

fn push(out: &mut Vec<Span>, piece: &str, base: usize, start: usize, end: usize) {
    let raw = &piece[start..end];
    let body = raw.trim();
    if body.chars().any(char::is_alphanumeric) {
        let lead = raw.len() - raw.trim_start().len();
        out.push(Span::new(base + start + lead, base + start + lead + body.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(text: &str) -> Vec<String> {
        let document = document(text);
        document.sentences.iter().map(|s| s.span.of(text).to_owned()).collect()
    }

    #[test]
    fn prose_is_cut_into_sentences() {
        assert_eq!(
            sentences(
                "# Top\n\nIt is 2.5 times faster, e.g. on a T9. Really!\nyes.\n\n* one\n  more\n* two"
            ),
            [
                "Top",
                "It is 2.5 times faster, e.g. on a T9.",
                "Really!",
                "yes.",
                "one\n  more",
                "two"
            ]
        );
    }

    #[test]
    fn disclosures_are_cut_at_semicolons() {
        let text = "Disclosure Statement\n\nA 12 bops; B 14 bops.\n";
        assert_eq!(sentences(text), ["Disclosure Statement", "A 12 bops;", "B 14 bops."]);
        assert!(document(text).blocks[1].disclosure);
    }

    #[test]
    fn code_is_no_prose() {
        assert_eq!(sentences("Before.\n\n```\n5% faster\n```\nAfter."), ["Before.", "After."]);
    }
}
