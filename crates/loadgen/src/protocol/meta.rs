//! Requests of the meta protocol, and the flags of its responses.

use super::decimal::{decimals, parse_decimal, push_decimal, strip_decimal};
use super::{InvalidReply, Reply};
use crate::config::KEY_LIMIT;
use crate::send::content::Content;
use crate::send::mix::{Op, hex_digits, write_key};

/// Opaques are the request's number modulo this, in three hexadecimal digits: more than a
/// connection can have outstanding.
pub const OPAQUES: u32 = 1 << 12;

/// Appends `mg KEY v` or `ms KEY LENGTH` with its value. With a number the request is quiet and
/// carries it as opaque. Returns the length of the response to a hit or a stored set; 0 for
/// a quiet set or miss, which has none.
#[inline]
pub fn push(
    prefix: &[u8],
    op: &Op,
    number: Option<u32>,
    content: &Content,
    out: &mut Vec<u8>,
) -> usize {
    out.extend_from_slice(if op.is_get() { b"mg " } else { b"ms " });
    write_key(prefix, op.key, op.pad, out);
    if op.is_get() {
        out.extend_from_slice(b" v");
    } else {
        out.push(b' ');
        push_decimal(op.length, out);
    }
    if let Some(number) = number {
        out.extend_from_slice(b" q O");
        out.extend_from_slice(&opaque_digits(number));
    }
    out.extend_from_slice(b"\r\n");
    let quiet = number.is_some();
    if !op.is_get() {
        content.write(op.key, op.length, op.version, out);
        out.extend_from_slice(b"\r\n");
        return if quiet { 0 } else { b"HD\r\n".len() };
    }
    if op.key >= KEY_LIMIT {
        return if quiet { 0 } else { b"EN\r\n".len() };
    }
    let opaque = if quiet { b" O123".len() } else { 0 };
    b"VA \r\n\r\n".len() + decimals(op.length) + opaque + op.length as usize
}

/// Returns the digits of a request's opaque.
#[inline]
fn opaque_digits(number: u32) -> [u8; 3] {
    let [.., a, b, c] = hex_digits(number);
    [a, b, c]
}

/// Returns the value of a hit and the bytes after its response, if `input` begins with the complete
/// response to a get of a value of this length, as memcached writes it.
#[inline]
pub fn hit(length: u32, number: Option<u32>, input: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = strip_decimal(length, input.strip_prefix(b"VA ")?)?;
    if let Some(number) = number {
        rest = rest.strip_prefix(b" O")?.strip_prefix(&opaque_digits(number))?;
    }
    let (value, rest) = rest.strip_prefix(b"\r\n")?.split_at_checked(length as usize)?;
    Some((value, rest.strip_prefix(b"\r\n")?))
}

/// Parses the opaque among a response's flags.
#[inline]
pub fn opaque(flags: &[u8]) -> Result<Option<u32>, InvalidReply> {
    for flag in flags.split(|b| *b == b' ') {
        if let [b'O', digits @ ..] = flag {
            let number = digits.iter().try_fold(0u32, |n, b| {
                let digit = char::from(*b).to_digit(16)?;
                (n < OPAQUES).then_some(n << 4 | digit)
            });
            return match number {
                Some(n) if n < OPAQUES && !digits.is_empty() => Ok(Some(n)),
                _ => Err(InvalidReply::new("an opaque that was not sent", flag)),
            };
        }
    }
    Ok(None)
}

/// Parses `LENGTH FLAGS*`, the part of a line after `VA`.
#[inline]
pub fn value(rest: &[u8]) -> Result<Reply<'_>, InvalidReply> {
    let end = rest.iter().position(|b| *b == b' ').unwrap_or(rest.len());
    let Some(length) = parse_decimal(&rest[..end]) else {
        return Err(InvalidReply::new("a VA line without a length", rest));
    };
    Ok(Reply::Value { key: None, opaque: opaque(&rest[end..])?, length })
}
