//! RESP, the protocol of Redis and Valkey, versions 2 and 3. Their requests are the same; version 3
//! begins with `HELLO 3`, and its null is `_`.

use super::decimal::{decimals, parse_decimal, push_decimal, strip_decimal};
use super::{InvalidReply, Reply};
use crate::config::{KEY_DIGITS, KEY_LIMIT};
use crate::latency::report::ErrorKind;
use crate::login::refusal;
use crate::send::content::Content;
use crate::send::mix::{KeyAction, Op, write_key};

/// Maximum number of elements of an array.
const MAX_ELEMENTS: u64 = 1 << 16;

/// Appends a request. Returns the minimum length of its response, which for a get is that of a hit,
/// or for a key that is never set that of the miss.
#[inline]
pub fn push(prefix: &[u8], op: &Op, null: usize, content: &Content, out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(match op.action {
        KeyAction::Get | KeyAction::GetAbsent => b"*2\r\n$3\r\nGET\r\n".as_slice(),
        KeyAction::Set => b"*3\r\n$3\r\nSET\r\n",
        KeyAction::Delete => b"*2\r\n$3\r\nDEL\r\n",
        KeyAction::Increment => b"*2\r\n$4\r\nINCR\r\n",
        KeyAction::MultiGet => return push_multi_get(op.length, out),
    });
    push_key(prefix, op, out);
    match op.action {
        KeyAction::Set => {
            out.push(b'$');
            push_decimal(op.length, out);
            out.extend_from_slice(b"\r\n");
            content.write(op.key, op.length, op.version, out);
            out.extend_from_slice(b"\r\n");
            b"+OK\r\n".len()
        }
        KeyAction::Delete | KeyAction::Increment | KeyAction::MultiGet => b":1\r\n".len(),
        KeyAction::Get | KeyAction::GetAbsent => value_length(op, null),
    }
}

/// Appends the beginning of an `MGET` of `keys` keys.
fn push_multi_get(keys: u32, out: &mut Vec<u8>) -> usize {
    out.push(b'*');
    push_decimal(keys + 1, out);
    out.extend_from_slice(b"\r\n$4\r\nMGET\r\n");
    b"*\r\n".len() + decimals(keys)
}

/// Appends a key of an `MGET`. Returns the length of its element of the response.
#[inline]
pub fn push_part(prefix: &[u8], op: &Op, null: usize, out: &mut Vec<u8>) -> usize {
    push_key(prefix, op, out);
    value_length(op, null)
}

#[inline]
fn push_key(prefix: &[u8], op: &Op, out: &mut Vec<u8>) {
    out.push(b'$');
    push_decimal((prefix.len() + KEY_DIGITS) as u32 + u32::from(op.pad), out);
    out.extend_from_slice(b"\r\n");
    write_key(prefix, op.key, op.pad, out);
    out.extend_from_slice(b"\r\n");
}

fn value_length(op: &Op, null: usize) -> usize {
    if op.key >= KEY_LIMIT {
        return null;
    }
    b"$\r\n\r\n".len() + decimals(op.length) + op.length as usize
}

/// Returns the value of a hit and the bytes after its response, if `input` begins with a complete
/// value of this length.
#[inline]
pub fn hit(length: u32, input: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = strip_decimal(length, input.strip_prefix(b"$")?)?;
    let (value, rest) = rest.strip_prefix(b"\r\n")?.split_at_checked(length as usize)?;
    Some((value, rest.strip_prefix(b"\r\n")?))
}

/// Parses a line of a response.
#[inline]
pub fn reply(line: &[u8]) -> Result<Reply<'_>, InvalidReply> {
    let wrong = |what| Err(InvalidReply::new(what, line));
    Ok(match line {
        b"+OK" => Reply::Stored(None),
        b"$-1" | b"_" => Reply::Miss(None),
        [b'$', length @ ..] => match parse_decimal(length) {
            Some(length) => Reply::Value { key: None, opaque: None, length },
            None => return wrong("a value without a length"),
        },
        [b':', b'-', digits @ ..] => match parse_decimal(digits) {
            Some(number) => Reply::Integer(-(number as i64)),
            None => return wrong("a number that is none"),
        },
        [b':', digits @ ..] => match parse_decimal(digits) {
            Some(number) => Reply::Integer(number as i64),
            None => return wrong("a number that is none"),
        },
        [b'*', count @ ..] => match parse_decimal(count).filter(|n| *n <= MAX_ELEMENTS) {
            Some(count) => Reply::Array(count as u32),
            None => return wrong("an array without a length"),
        },
        [b'-', text @ ..] => Reply::Error { kind: kind_of(text), opaque: None, text: line },
        _ => return wrong("not an answer to a request that was sent"),
    })
}

/// Returns the kind of an error from its first word.
#[cold]
fn kind_of(text: &[u8]) -> ErrorKind {
    match text.split(|b| *b == b' ').next().unwrap_or_default() {
        b"OOM" => ErrorKind::OutOfMemory,
        b"LOADING" | b"BUSY" | b"MASTERDOWN" | b"TRYAGAIN" => ErrorKind::NotReady,
        b"MOVED" | b"ASK" | b"CLUSTERDOWN" => ErrorKind::Moved,
        b"ERR" | b"WRONGTYPE" => ErrorKind::ClientError,
        _ => ErrorKind::ServerError,
    }
}

/// Returns the elements still to come after an element of the response to `HELLO` or `AUTH`, of
/// which `left` were to come with it, and the length of the text that follows the line.
pub fn greeting(line: &[u8], left: u32) -> Result<(u32, Option<u64>), InvalidReply> {
    let wrong = |what| Err(InvalidReply::new(what, line));
    let [kind, rest @ ..] = line else { return wrong("an empty answer to HELLO") };
    let number = parse_decimal(rest).filter(|n| *n <= MAX_ELEMENTS);
    match (kind, number) {
        (b'%', Some(pairs)) => Ok((left - 1 + 2 * pairs as u32, None)),
        (b'*', Some(elements)) => Ok((left - 1 + elements as u32, None)),
        (b'$', Some(length)) => Ok((left, Some(length))),
        (b'+' | b':', _) => Ok((left - 1, None)),
        (b'-', _) => Err(InvalidReply::new("the server refused HELLO 3 or AUTH", refusal(line))),
        _ => wrong("not an answer to HELLO 3"),
    }
}
