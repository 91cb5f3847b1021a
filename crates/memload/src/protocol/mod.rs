//! The three protocols: requests are appended to a buffer, answers are read by an incremental parser
//! that keeps no value. The parser sees outside data: it never panics, keeps at most a line of 4 KiB,
//! and gives the same answers however the bytes are cut.

mod binary;
mod lines;
mod meta;
mod text;

pub use meta::OPAQUES;

use crate::config::Protocol;
use crate::content::Content;
use crate::mix::{Action, KEY_DIGITS, Op};

/// What the server said, piece by piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply<'a> {
    /// A value begins; its bytes follow as chunks, then `ValueEnd`.
    Value {
        /// The key, where the answer names it.
        key: Option<&'a [u8]>,
        /// The number of the request, where the answer names it.
        opaque: Option<u32>,
        /// How many bytes follow.
        length: u64,
    },
    /// The next bytes of the value.
    Chunk(&'a [u8]),
    /// The value is complete.
    ValueEnd,
    /// The end of a text get, after its value if there was one.
    End,
    /// There is no such key.
    Miss {
        /// The number of the request, where the answer names it.
        opaque: Option<u32>,
    },
    /// The value was stored.
    Stored {
        /// The number of the request, where the answer names it.
        opaque: Option<u32>,
    },
    /// The value was refused without an error.
    NotStored {
        /// The number of the request, where the answer names it.
        opaque: Option<u32>,
    },
    /// The no-op was reached.
    Noop,
    /// The server failed, in its own words.
    ServerError {
        /// The number of the request, where the answer names it.
        opaque: Option<u32>,
        /// What it said.
        text: &'a [u8],
    },
    /// The server did not understand, in its own words.
    ClientError {
        /// The number of the request, where the answer names it.
        opaque: Option<u32>,
        /// What it said.
        text: &'a [u8],
    },
}

/// An answer that is none: the connection cannot be used any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {seen:?}")]
pub struct Garbled {
    /// What was wrong.
    pub what: &'static str,
    /// The first 120 bytes of it, as text.
    pub seen: String,
}

impl Garbled {
    /// An error that shows the beginning of `seen`.
    #[cold]
    pub fn new(what: &'static str, seen: &[u8]) -> Self {
        let seen = String::from_utf8_lossy(&seen[..seen.len().min(120)]).into_owned();
        Garbled { what, seen }
    }
}

/// Who takes the answers.
pub trait Sink {
    /// The next piece.
    ///
    /// # Errors
    /// It was not asked for; the parser stops.
    fn reply(&mut self, reply: Reply<'_>) -> Result<(), Garbled>;
}

/// The parser of one connection.
#[derive(Debug)]
pub enum Parser {
    /// Text and meta, whose answers share their framing.
    Lines(lines::Lines),
    /// Binary.
    Binary(binary::Packets),
}

impl Parser {
    /// A parser at the beginning of a connection.
    pub fn new(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Text | Protocol::Meta => Parser::Lines(lines::Lines::default()),
            Protocol::Binary => Parser::Binary(binary::Packets::default()),
        }
    }

    /// Reads the next bytes and hands every complete piece to `sink`.
    ///
    /// # Errors
    /// The bytes are no answer of the protocol, or `sink` did not ask for it. The parser must not be
    /// used after that.
    pub fn feed(&mut self, input: &[u8], sink: &mut impl Sink) -> Result<(), Garbled> {
        match self {
            Parser::Lines(lines) => lines.feed(input, sink),
            Parser::Binary(packets) => packets.feed(input, sink),
        }
    }
}

/// Writes requests.
#[derive(Debug, Clone)]
pub struct Encoder {
    protocol: Protocol,
    prefix: Vec<u8>,
}

impl Encoder {
    /// An encoder of keys with `prefix`.
    pub fn new(protocol: Protocol, prefix: &str) -> Self {
        Encoder { protocol, prefix: prefix.as_bytes().to_vec() }
    }

    /// What every key begins with.
    pub fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// The length of a key's text.
    pub fn key_length(&self) -> usize {
        self.prefix.len() + KEY_DIGITS
    }

    /// Whether a batch of this depth is sent quietly and closed by a no-op.
    pub fn quiet(&self, batch: usize) -> bool {
        self.protocol == Protocol::Meta && batch > 1
    }

    /// Appends the request of `op`. Gives the length of the answer if it succeeds.
    #[inline]
    pub fn push(
        &self,
        op: &Op,
        number: u32,
        quiet: bool,
        content: &Content,
        out: &mut Vec<u8>,
    ) -> usize {
        match self.protocol {
            Protocol::Text => text::push(&self.prefix, op, content, out),
            Protocol::Meta => meta::push(&self.prefix, op, quiet.then_some(number), content, out),
            Protocol::Binary => binary::push(&self.prefix, op, number, content, out),
        }
    }

    /// Appends what closes a quiet batch. Gives the length of its answer.
    #[inline]
    pub fn close(&self, out: &mut Vec<u8>) -> usize {
        out.extend_from_slice(b"mn\r\n");
        4
    }
}

fn is_get(op: &Op) -> bool {
    op.action != Action::Set
}

/// Appends a number in decimal digits.
#[inline]
fn push_decimal(mut n: u32, out: &mut Vec<u8>) {
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

/// How many decimal digits a number has.
#[inline]
fn decimals(n: u32) -> usize {
    n.checked_ilog10().map_or(1, |d| d as usize + 1)
}

/// A decimal number without sign; `None` for anything else or above 2^53.
#[inline]
fn parse_decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 15 {
        return None;
    }
    text.iter().try_fold(0u64, |n, b| b.is_ascii_digit().then(|| n * 10 + u64::from(b - b'0')))
}

#[cfg(test)]
mod tests;
