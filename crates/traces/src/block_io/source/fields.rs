//! Parses numbers and words in a line of text without copying.
#![allow(clippy::inline_always)] // Called several times per line; measured.

/// A position in a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
}

/// Powers of ten by number of digits.
const TENS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Mask of the first and third of four pairs of digits.
const PAIRS: u64 = 0x0000_00FF_0000_00FF;

/// Repeats a byte in all eight bytes of a word.
const fn eight(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Sets the top bit of each byte of `word` that equals `byte`, and clears all other bits.
#[inline]
pub(crate) fn bytes_that_are(byte: u8, word: u64) -> u64 {
    let low = word ^ eight(byte);
    !(((low & eight(0x7F)) + eight(0x7F)) | low | eight(0x7F))
}

/// Parses the digits at the start of eight bytes in parallel. Returns their number and value. The
/// bytes are in text order, the first in the lowest byte.
#[inline(always)]
fn leading_digits(word: u64) -> (usize, u64) {
    let low = word ^ eight(b'0');
    // The byte of a digit is at most 9, so adding 0x76 leaves its top bit clear. A carry reaches
    // only bytes after the first non-digit, which do not matter.
    let others = (low.wrapping_add(eight(0x76)) | low) & eight(0x80);
    let digits = others.trailing_zeros() as usize / 8;
    // Shift leading zeros in so that there are eight digits. Without digits the word must be 0,
    // which a shift by 64 would not give.
    let digits_only = if digits == 0 { 0 } else { low.wrapping_shl(64 - 8 * digits as u32) };
    // Neighbors are joined with weight 10. The first and third pair then have the weights 10^6 and
    // 100, the second and fourth 10^4 and 1; all meet in the upper half.
    let pairs = digits_only.wrapping_mul(10).wrapping_add(digits_only >> 8);
    let first = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let second = (pairs >> 16 & PAIRS).wrapping_mul(1 + (10_000 << 32));
    (digits, first.wrapping_add(second) >> 32)
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(line: &'a [u8]) -> Self {
        Cursor { line, at: 0 }
    }

    /// Returns the part of the line that has not been read.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.line[self.at..]
    }

    /// Returns the next eight bytes, the first in the lowest byte, with zeros after the end of the
    /// line.
    #[inline(always)]
    pub(crate) fn word8(&self) -> u64 {
        match self.line.get(self.at..).and_then(<[u8]>::first_chunk::<8>) {
            Some(next) => u64::from_le_bytes(*next),
            None => self.last_word8(),
        }
    }

    #[inline]
    fn last_word8(&self) -> u64 {
        let left = self.line.len() - self.at;
        if left == 0 {
            0
        } else if let Some(end) = self.line.last_chunk::<8>() {
            u64::from_le_bytes(*end) >> (64 - 8 * left)
        } else {
            self.rest().iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
        }
    }

    /// Parses a decimal integer. Returns `None` without digits or if it exceeds 64 bits.
    #[inline(always)]
    pub(crate) fn number(&mut self) -> Option<u64> {
        let (digits, value) = leading_digits(self.word8());
        if digits < 8 {
            self.at += digits;
            return (digits > 0).then_some(value);
        }
        let next = Cursor { line: self.line, at: self.at + 8 };
        let (digits, more) = leading_digits(next.word8());
        // Sixteen digits always fit. Only a longer number may be too large.
        let value = value * TENS[digits] + more;
        if digits < 8 {
            self.at = next.at + digits;
            return Some(value);
        }
        self.longer_number(value)
    }

    /// Parses a number of more than sixteen digits, of which the first sixteen have this value.
    #[inline]
    fn longer_number(&mut self, mut value: u64) -> Option<u64> {
        let mut next = Cursor { line: self.line, at: self.at + 16 };
        loop {
            let (digits, more) = leading_digits(next.word8());
            value = value.checked_mul(TENS[digits])?.checked_add(more)?;
            next.at += digits;
            if digits < 8 {
                break;
            }
        }
        self.at = next.at;
        Some(value)
    }

    /// Parses a decimal number in units of 10^−`places`: with 9, seconds become nanoseconds.
    /// Further digits are dropped.
    pub(crate) fn decimal(&mut self, places: u32) -> Option<u64> {
        let start = *self;
        let whole = self.number();
        let mut fraction = 0u64;
        let mut read = 0;
        if self.past(b'.').is_some() {
            loop {
                let (digits, value) = leading_digits(self.word8());
                let kept = (digits as u32).min(places - read);
                fraction = fraction * TENS[kept as usize] + value / TENS[digits - kept as usize];
                read += kept;
                self.at += digits;
                if digits < 8 {
                    break;
                }
            }
        }
        let scaled = match (whole, read) {
            (None, 0) => None,
            (whole, _) => whole
                .unwrap_or(0)
                .checked_mul(10u64.pow(places))
                .and_then(|w| w.checked_add(fraction * 10u64.pow(places - read))),
        };
        if scaled.is_none() {
            *self = start;
        }
        scaled
    }

    /// Skips `byte` if it is next.
    #[inline]
    pub(crate) fn past(&mut self, byte: u8) -> Option<()> {
        if self.line.get(self.at) != Some(&byte) {
            return None;
        }
        self.at += 1;
        Some(())
    }

    /// Skips `n` bytes, or to the end of the line.
    #[inline]
    pub(crate) fn skip(&mut self, n: usize) {
        self.at = (self.at + n).min(self.line.len());
    }

    /// Returns the bytes before the next `byte`, and skips them and `byte`.
    #[inline]
    pub(crate) fn until(&mut self, byte: u8) -> Option<&'a [u8]> {
        let rest = self.rest();
        let at = rest.iter().position(|b| *b == byte)?;
        self.at += at + 1;
        Some(&rest[..at])
    }

    /// Returns the next word between blanks; empty at the end of the line.
    #[inline]
    pub(crate) fn word(&mut self) -> &'a [u8] {
        self.blanks();
        let rest = self.rest();
        let end = rest.iter().position(|b| is_blank(*b)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    #[inline]
    pub(crate) fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.iter().position(|b| !is_blank(*b)).unwrap_or(rest.len());
    }

    /// Returns the next `n` bytes, at most 16, padded with zeros.
    #[inline]
    pub(crate) fn key(&self, n: usize) -> u128 {
        let second = Cursor { line: self.line, at: (self.at + 8).min(self.line.len()) };
        let all = u128::from(self.word8()) | u128::from(second.word8()) << 64;
        if n >= 16 { all } else { all & ((1 << (8 * n)) - 1) }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Parses a word that consists of a decimal integer only.
pub(crate) fn whole_number(word: &[u8]) -> Option<u64> {
    let mut cursor = Cursor::new(word);
    cursor.number().filter(|_| cursor.rest().is_empty())
}

/// Parses a word that consists of a decimal number only; see [`Cursor::decimal`].
pub(crate) fn whole_decimal(word: &[u8], places: u32) -> Option<u64> {
    let mut cursor = Cursor::new(word);
    cursor.decimal(places).filter(|_| cursor.rest().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length() {
        let mut n = 0u64;
        for digit in (1..=9).chain(0..=9).chain([9]) {
            n = n.wrapping_mul(10).wrapping_add(digit);
            assert_eq!(whole_number(n.to_string().as_bytes()), Some(n));
        }
        assert_eq!(whole_number(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(whole_number(b"18446744073709551616"), None);
        assert_eq!(whole_number(b"99999999999999999999999999999999"), None);
        for wrong in [&b""[..], b"-1", b"12a", b"1234567:", b"1234567/", b"\xff2345678"] {
            assert_eq!(whole_number(wrong), None, "{wrong:?}");
        }
        // Every byte except a digit ends a number, also among the eight that are read at once.
        for byte in (0..=255u8).filter(|b| !b.is_ascii_digit()) {
            for at in 0..=24 {
                let mut text = *b"1234567812345678123456789";
                text[at] = byte;
                let want = std::str::from_utf8(&text[..at]).unwrap().parse::<u64>().ok();
                let mut cursor = Cursor::new(&text);
                assert_eq!(cursor.number(), want, "{byte} at {at}");
                assert_eq!(cursor.rest().len(), text.len() - want.map_or(0, |_| at));
            }
        }
    }

    #[test]
    fn decimals_as_nanoseconds() {
        let ns = |t: &str| whole_decimal(t.as_bytes(), 9);
        assert_eq!(ns("0.000000001"), Some(1));
        assert_eq!(ns("12.5"), Some(12_500_000_000));
        assert_eq!(ns("7"), Some(7_000_000_000));
        assert_eq!(ns(".25"), Some(250_000_000));
        assert_eq!(ns("1.1234567899"), Some(1_123_456_789));
        assert_eq!(ns("99999999999999.0"), None);
        assert_eq!((ns(""), ns("."), ns("1.2.3")), (None, None, None));
    }

    #[test]
    fn keys_are_of_the_bytes_asked_for() {
        for (n, text) in [(0, ""), (3, "abc"), (10, "abcdefghij"), (16, "abcdefghijklmnop")] {
            let mut want = [0; 16];
            want[..n].copy_from_slice(text.as_bytes());
            for after in ["", ",", ",Read,383496192,32768,1331"] {
                let line = format!("12,{text}{after}");
                let mut c = Cursor::new(line.as_bytes());
                c.skip(3);
                assert_eq!(c.key(n), u128::from_le_bytes(want), "{line}");
            }
        }
    }

    #[test]
    fn words() {
        let mut c = Cursor::new(b"  8,0\t  R 12 ");
        assert_eq!(
            (c.word(), c.word(), c.word(), c.word()),
            (&b"8,0"[..], &b"R"[..], &b"12"[..], &b""[..])
        );
    }
}
