//! Suggests the name that a person probably meant.

/// Returns the candidate with the smallest edit distance from `word`, if that distance is at most
/// one plus a third of the shorter length.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|c| (distance(word, c), c))
        .filter(|(d, c)| *d <= 1 + c.len().min(word.len()) / 3)
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// Computes the Levenshtein distance in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_understood_and_another_word_is_not() {
        let known = ["blocks", "design", "nice", "noop"];
        let meant = |word| nearest(word, known.into_iter());
        assert_eq!(meant("block"), Some("blocks"));
        assert_eq!(meant("desing"), Some("design"));
        assert_eq!(meant("nop"), Some("noop"));
        assert_eq!(meant("frobnicate"), None);
    }

    #[test]
    fn distances() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
