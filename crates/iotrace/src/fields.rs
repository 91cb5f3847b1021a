//! Fields of a line of text: numbers and words, without a copy.

/// A place in a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

/// The value of eight ASCII digits, all at once; `None` when one is no digit.
fn eight_digits(bytes: &[u8]) -> Option<u64> {
    let word = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
    let low = word ^ 0x3030_3030_3030_3030;
    // A digit's byte is at most 9, so adding 0x76 leaves its top bit clear.
    if (low.wrapping_add(0x7676_7676_7676_7676) | low) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    // Neighbours are joined by 10, then by 100, then by 10,000.
    let pairs = (low.wrapping_mul(10) + (low >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_FFFF_0000_FFFF;
    Some((fours.wrapping_mul(10_000) + (fours >> 32)) & 0xFFFF_FFFF)
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(line: &'a [u8]) -> Self {
        Cursor { rest: line }
    }

    /// What is not read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// A whole number of decimal digits that fits 64 bits; `None` where there is none.
    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        let mut rest = self.rest;
        let mut digits = 0;
        while let Some(eight) = eight_digits(rest) {
            value = value.checked_mul(100_000_000)?.checked_add(eight)?;
            rest = &rest[8..];
            digits += 8;
        }
        while let Some(digit) = rest.first().map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
            value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
            rest = &rest[1..];
            digits += 1;
        }
        if digits == 0 {
            return None;
        }
        self.rest = rest;
        Some(value)
    }

    /// A decimal number in units of 10^−`places`, such as seconds as nanoseconds with 9; further digits
    /// are dropped.
    pub(crate) fn decimal(&mut self, places: u32) -> Option<u64> {
        let start = *self;
        let whole = self.number();
        let mut fraction = 0u64;
        let mut read = 0;
        if self.rest.first() == Some(&b'.') {
            self.rest = &self.rest[1..];
            while let Some(digit) =
                self.rest.first().map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10)
            {
                if read < places {
                    fraction = fraction * 10 + u64::from(digit);
                    read += 1;
                }
                self.rest = &self.rest[1..];
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

    /// Goes past `byte` if it is next.
    pub(crate) fn past(&mut self, byte: u8) -> Option<()> {
        self.rest = self.rest.strip_prefix(&[byte])?;
        Some(())
    }

    /// Goes past `n` bytes, or to the end of the line.
    pub(crate) fn skip(&mut self, n: usize) {
        self.rest = &self.rest[n.min(self.rest.len())..];
    }

    /// What lies before the next `byte`, and goes past it.
    pub(crate) fn until(&mut self, byte: u8) -> Option<&'a [u8]> {
        let at = self.rest.iter().position(|b| *b == byte)?;
        let before = &self.rest[..at];
        self.rest = &self.rest[at + 1..];
        Some(before)
    }

    /// The next word between blanks; empty at the end of the line.
    pub(crate) fn word(&mut self) -> &'a [u8] {
        self.blanks();
        let end = self.rest.iter().position(|b| is_blank(*b)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// Goes past blanks.
    pub(crate) fn blanks(&mut self) {
        let skip = self.rest.iter().position(|b| !is_blank(*b)).unwrap_or(self.rest.len());
        self.rest = &self.rest[skip..];
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// A word that is a whole number and nothing else.
pub(crate) fn whole_number(word: &[u8]) -> Option<u64> {
    let mut cursor = Cursor::new(word);
    cursor.number().filter(|_| cursor.rest().is_empty())
}

/// A word that is a decimal number and nothing else; see [`Cursor::decimal`].
pub(crate) fn whole_decimal(word: &[u8], places: u32) -> Option<u64> {
    let mut cursor = Cursor::new(word);
    cursor.decimal(places).filter(|_| cursor.rest().is_empty())
}

/// A text without the blanks around it.
pub(crate) fn trim(text: &[u8]) -> &[u8] {
    text.trim_ascii()
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
        // Every byte but a digit ends a number, also within the eight that are read at once.
        for byte in (0..=255u8).filter(|b| !b.is_ascii_digit()) {
            for at in 0..8 {
                let mut text = *b"12345678";
                text[at] = byte;
                assert_eq!(eight_digits(&text), None, "{byte} at {at}");
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
    fn words() {
        let mut c = Cursor::new(b"  8,0\t  R 12 ");
        assert_eq!(
            (c.word(), c.word(), c.word(), c.word()),
            (&b"8,0"[..], &b"R"[..], &b"12"[..], &b""[..])
        );
    }
}
