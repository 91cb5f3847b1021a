//! Requests of the text protocol, and the line that begins a value.

use super::decimal::{decimals, parse_decimal, push_decimal, strip_decimal};
use super::{InvalidReply, Reply};
use crate::config::KEY_DIGITS;
use crate::send::content::Content;
use crate::send::mix::{Op, key_digits, padding, write_key};

/// Appends `get KEY` or `set KEY 0 0 LENGTH` with its value. Returns the length of the response to
/// a hit or to a stored set; for a key that is never set, that of the miss.
#[inline]
pub fn push(prefix: &[u8], op: &Op, content: &Content, out: &mut Vec<u8>) -> usize {
    if op.is_get() {
        out.extend_from_slice(b"get ");
        write_key(prefix, op.key, op.pad, out);
        out.extend_from_slice(b"\r\n");
        if op.key >= crate::config::KEY_LIMIT {
            return b"END\r\n".len();
        }
        let head = b"VALUE  0 \r\n".len()
            + prefix.len()
            + KEY_DIGITS
            + usize::from(op.pad)
            + decimals(op.length);
        return head + op.length as usize + b"\r\nEND\r\n".len();
    }
    out.extend_from_slice(b"set ");
    write_key(prefix, op.key, op.pad, out);
    out.extend_from_slice(b" 0 0 ");
    push_decimal(op.length, out);
    out.extend_from_slice(b"\r\n");
    content.write(op.key, op.length, op.version, out);
    out.extend_from_slice(b"\r\n");
    b"STORED\r\n".len()
}

/// Returns the value of a hit and the bytes after its response, if `input` begins with the complete
/// response to a get of `key`, as memcached writes it.
#[inline]
pub fn hit<'a>(
    prefix: &[u8],
    (key, pad): (u64, u8),
    length: u32,
    input: &'a [u8],
) -> Option<(&'a [u8], &'a [u8])> {
    let key_behind = input.strip_prefix(b"VALUE ")?.strip_prefix(prefix)?;
    let flags = key_behind.strip_prefix(&key_digits(key))?.strip_prefix(padding(pad))?;
    let rest = strip_decimal(length, flags.strip_prefix(b" 0 ")?)?;
    let (value, rest) = rest.strip_prefix(b"\r\n")?.split_at_checked(length as usize)?;
    Some((value, rest.strip_prefix(b"\r\nEND\r\n")?))
}

/// Parses `KEY FLAGS LENGTH [CAS]`, the part of a line after `VALUE`.
#[inline]
pub fn value(rest: &[u8]) -> Result<Reply<'_>, InvalidReply> {
    let mut words = rest.split(|b| *b == b' ');
    let (key, _flags, length) = (words.next(), words.next(), words.next());
    match length.and_then(parse_decimal) {
        Some(length) => Ok(Reply::Value { key, opaque: None, length }),
        None => Err(InvalidReply::new("a VALUE line without a length", rest)),
    }
}
