//! The three protocols: requests are appended to a buffer, answers are read by an incremental parser
//! that keeps no value. The parser sees outside data: it never panics, keeps at most a line of 4 KiB,
//! and gives the same answers however the bytes are cut.

mod binary;
mod decimal;
mod lines;
mod meta;
mod reply;
mod text;

pub use meta::OPAQUES;
pub use reply::{Garbled, Reply, Sink};

use crate::config::Protocol;
use crate::content::Content;
use crate::mix::Op;

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

    /// The value of a hit and what follows its answer, if `input` begins with the whole answer to a get
    /// of `key`, byte for byte as a right one is; `number` names a quiet request. Anything else is the
    /// parser's.
    #[inline]
    pub fn hit<'a>(
        &self,
        (key, length): (u64, u32),
        number: Option<u32>,
        input: &'a [u8],
    ) -> Option<(&'a [u8], &'a [u8])> {
        match self.protocol {
            Protocol::Text => text::hit(&self.prefix, key, length, input),
            Protocol::Meta => meta::hit(length, number, input),
            Protocol::Binary => None,
        }
    }

    /// Appends what closes a quiet batch. Gives the length of its answer.
    #[inline]
    pub fn close(&self, out: &mut Vec<u8>) -> usize {
        out.extend_from_slice(b"mn\r\n");
        4
    }
}

#[cfg(test)]
mod tests;
