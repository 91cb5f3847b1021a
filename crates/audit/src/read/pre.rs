//! What stands in `<pre>`: a program or what it printed, or a letter whose lines somebody broke.

use crate::read::tag::Piece;

/// Whether the text up to the end of a `<pre>` is code: fewer than half of its lines are prose, and no three in a row.
pub(super) fn is_code(pieces: &[Piece<'_>]) -> bool {
    let ends =
        |p: &&Piece<'_>| matches!(p, Piece::Tag { name, closing: true, .. } if name == "pre");
    let mut text = String::new();
    for piece in pieces.iter().take_while(|p| !ends(p)) {
        if let Piece::Text { text: own, .. } = piece {
            text.push_str(own);
        }
        if text.len() > MAX_TEXT {
            break;
        }
    }
    let (mut lines, mut prose, mut run, mut longest) = (0, 0, 0, 0);
    for line in text.lines().filter(|l| !l.trim().is_empty()) {
        lines += 1;
        run = if is_prose(line) { run + 1 } else { 0 };
        prose += usize::from(run > 0);
        longest = longest.max(run);
    }
    lines > 0 && prose * 2 < lines && longest < 3 && !text.contains("```")
}

/// What is longer is judged by its beginning.
const MAX_TEXT: usize = 1 << 16;

/// Whether a line is of a sentence: six words or more, most of them letters alone, with one space between them.
fn is_prose(line: &str) -> bool {
    let line = line.trim().trim_start_matches("> ");
    let words: Vec<&str> = line.split(' ').take(40).collect();
    let letters = |w: &&&str| {
        let core = w.trim_matches(['.', ',', ';', ':', '(', ')', '"', '\'', '!', '?']);
        !core.is_empty() && core.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’'))
    };
    let command = line.starts_with(['$', '#', '%', '|']) || line.contains("  ");
    !command && words.len() > 5 && words.iter().filter(letters).count() * 4 > words.len() * 3
}
