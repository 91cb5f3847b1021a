//! Splits a text into words and numbers, with the characters between them.

use std::ops::Range;

use super::fold::{FoldedChar, fold};

/// A word, a number, or a combination of both (`T5240`, `4.4.0`, `450.soplex`).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Atom {
    /// Folded text of the atom.
    pub(super) text: String,
    /// Bytes of the atom in the text.
    pub(super) span: Range<usize>,
    /// Folded characters since the previous atom.
    pub(super) before: String,
    /// Folded characters up to the next atom.
    pub(super) after: String,
}

impl Atom {
    /// Returns true if the atom begins with a digit.
    pub(super) fn numeric(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_digit())
    }

    /// Returns true if the atom contains a digit.
    pub(super) fn has_digit(&self) -> bool {
        self.text.contains(|c: char| c.is_ascii_digit())
    }

    /// Returns true for a number without letters: `570`, `4.4.0`, `1,000`.
    pub(super) fn bare(&self) -> bool {
        self.numeric() && !self.text.contains(char::is_alphabetic)
    }
}

/// Splits a text into atoms.
pub(super) fn atoms(text: &str) -> Vec<Atom> {
    let read = fold(text);
    let mut out: Vec<Atom> = Vec::new();
    let mut between = String::new();
    let mut i = 0;
    while i < read.len() {
        if !read[i].char.is_alphanumeric() {
            between.push(read[i].char);
            i += 1;
            continue;
        }
        let mut j = i + 1;
        while j < read.len() && goes_on(&read, i, j) {
            j += 1;
        }
        if let Some(last) = out.last_mut() {
            last.after.clone_from(&between);
        }
        let span = read[i].start..read[j - 1].end;
        out.push(Atom {
            text: read[i..j].iter().map(|r| r.char).collect(),
            span,
            before: std::mem::take(&mut between),
            after: String::new(),
        });
        i = j;
    }
    if let Some(last) = out.last_mut() {
        last.after = between;
    }
    out
}

/// Returns true if the character at `j` belongs to the atom that began at `i`.
fn goes_on(read: &[FoldedChar], i: usize, j: usize) -> bool {
    let c = read[j].char;
    if c.is_alphanumeric() {
        return true;
    }
    let digit = |at: usize| read.get(at).is_some_and(|r| r.char.is_ascii_digit());
    let word = |at: usize| read.get(at).is_some_and(|r| r.char.is_alphanumeric());
    match c {
        '.' => digit(j - 1) && word(j + 1) && read[i].char.is_ascii_digit(),
        ',' => digit(j - 1) && digit(j + 1),
        '_' => word(j - 1) && word(j + 1),
        '\'' => {
            read[j - 1].char.is_alphabetic()
                && read.get(j + 1).is_some_and(|r| r.char.is_alphabetic())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers() {
        let texts = |t: &str| atoms(t).into_iter().map(|a| a.text).collect::<Vec<_>>();
        assert_eq!(
            texts("The T5240 (1.6 GHz) did 1,000."),
            ["the", "t5240", "1.6", "ghz", "did", "1,000"]
        );
        assert_eq!(
            texts("450.soplex, GCC 4.4.0; 2009-08-27"),
            ["450.soplex", "gcc", "4.4.0", "2009", "08", "27"]
        );
        assert_eq!(
            texts("SPECfp_base2006 isn't one-third."),
            ["specfp_base2006", "isn't", "one", "third"]
        );
        assert_eq!(texts("50%."), ["50"]);
        assert_eq!(atoms("50% more")[0].after, "% ");
    }
}
