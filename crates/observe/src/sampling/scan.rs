//! Parsers for the kernel's text: words and numbers out of bytes, without allocating and without
//! trusting the input. Anything that is not a number is `None`.

use std::path::Path;

/// Iterator over the words of one line, separated by blanks.
#[derive(Debug, Clone)]
pub struct WordIter<'a> {
    rest: &'a [u8],
}

impl<'a> WordIter<'a> {
    pub fn new(line: &'a [u8]) -> Self {
        Self { rest: line }
    }

    /// Parses the next `N` words as whole numbers; from the first one that is missing or not a
    /// number on, all are `None`.
    pub fn numbers<const N: usize>(&mut self) -> [Option<u64>; N] {
        let mut numbers = [None; N];
        for slot in &mut numbers {
            let Some(number) = self.next().and_then(number) else { break };
            *slot = Some(number);
        }
        numbers
    }
}

impl<'a> Iterator for WordIter<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.rest.iter().position(|b| !blank(*b))?;
        let word = &self.rest[start..];
        let end = word.iter().position(|b| blank(*b)).unwrap_or(word.len());
        self.rest = &word[end..];
        Some(&word[..end])
    }
}

fn blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

/// Returns the names in a folder that are numbers.
pub(crate) fn numbers(folder: impl AsRef<Path>) -> Vec<u32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().to_str()?.parse().ok()).collect()
}

/// Returns the lines of a text, without their ends.
pub fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split(|b| *b == b'\n')
}

/// Returns the number after each key, in the order of the keys; `None` for a missing key.
pub fn keyed<const N: usize>(text: &[u8], keys: &[&[u8]; N]) -> [Option<u64>; N] {
    let mut found = [None; N];
    for line in lines(text) {
        let mut words = WordIter::new(line);
        let Some(key) = words.next() else { continue };
        if let Some(i) = keys.iter().position(|k| *k == key) {
            found[i] = words.next().and_then(number);
        }
    }
    found
}

/// Parses a whole number: digits only, below 2^64.
pub fn number(word: &[u8]) -> Option<u64> {
    let add = |value: u64, byte: &u8| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { value.checked_mul(10)?.checked_add(digit.into()) }
    };
    if word.is_empty() { None } else { word.iter().try_fold(0, add) }
}

/// Parses a number with a fraction, such as `0.25`; returns NaN if it is malformed.
pub fn decimal(word: &[u8]) -> f64 {
    std::str::from_utf8(word)
        .ok()
        .and_then(|text| text.parse().ok())
        .filter(|value: &f64| value.is_finite())
        .unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers() {
        let mut words = WordIter::new(b"  eth0:\t12 34x 56\n");
        assert_eq!(words.next(), Some(&b"eth0:"[..]));
        assert_eq!(words.numbers::<3>(), [Some(12), None, None]);
        assert_eq!(words.next(), Some(&b"56"[..]));
        assert_eq!(words.next(), None);
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(number(b"18446744073709551616"), None);
        assert_eq!(number(b"-1"), None);
        assert_eq!(number(b""), None);
        assert_eq!(decimal(b"0.25"), 0.25);
        assert!(decimal(b"inf").is_nan() && decimal(b"\xff").is_nan() && decimal(b"").is_nan());
    }
}
