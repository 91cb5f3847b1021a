//! Formatting and parsing of decimal numbers.

/// Appends a number in decimal digits.
#[inline]
pub(super) fn push_decimal(mut n: u32, out: &mut Vec<u8>) {
    let mut digits = [0u8; 10];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Returns the number of decimal digits of a number.
#[inline]
pub(super) fn decimals(n: u32) -> usize {
    n.checked_ilog10().map_or(1, |d| d as usize + 1)
}

/// Parses a decimal number without sign; `None` for other text and for more than 15 digits.
#[inline]
pub(super) fn parse_decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 15 {
        return None;
    }
    text.iter().try_fold(0u64, |n, b| b.is_ascii_digit().then(|| n * 10 + u64::from(b - b'0')))
}

/// Returns the text after a decimal number, if `text` begins with exactly that number, without
/// leading zeros.
#[inline]
pub(super) fn strip_decimal(n: u32, text: &[u8]) -> Option<&[u8]> {
    let (digits, rest) = text.split_at_checked(decimals(n))?;
    (parse_decimal(digits) == Some(u64::from(n))).then_some(rest)
}
