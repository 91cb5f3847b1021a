//! The text, meta and binary protocols. Encoders append requests to a buffer; incremental parsers
//! read responses without storing values. A parser reads untrusted data: it never panics, keeps at
//! most a line of 4 KiB, and gives the same responses however the bytes are split.

mod binary;
mod decimal;
mod lines;
mod meta;
mod reply;
mod text;

pub use meta::OPAQUES;
pub use reply::{InvalidReply, Reply, Sink};

use crate::config::Protocol;
use crate::send::content::Content;
use crate::send::mix::Op;

/// The response parser of one connection.
#[derive(Debug)]
pub enum Parser {
    /// Text and meta, whose responses have the same framing.
    Lines(lines::TextParser),
    Binary(binary::Packets),
}

impl Parser {
    /// Creates a parser for a new connection.
    pub fn new(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Text | Protocol::Meta => Parser::Lines(lines::TextParser::default()),
            Protocol::Binary => Parser::Binary(binary::Packets::default()),
        }
    }

    /// Parses the next bytes and passes every complete piece to `sink`.
    ///
    /// # Errors
    /// The bytes are no response of the protocol, or `sink` did not expect it. The parser must not
    /// be used after that.
    pub fn feed(&mut self, input: &[u8], sink: &mut impl Sink) -> Result<(), InvalidReply> {
        match self {
            Parser::Lines(lines) => lines.feed(input, sink),
            Parser::Binary(packets) => packets.feed(input, sink),
        }
    }
}

/// Encodes requests of one protocol.
#[derive(Debug, Clone)]
pub struct Encoder {
    protocol: Protocol,
    prefix: Vec<u8>,
}

impl Encoder {
    /// Creates an encoder for keys with `prefix`.
    pub fn new(protocol: Protocol, prefix: &str) -> Self {
        Encoder { protocol, prefix: prefix.as_bytes().to_vec() }
    }

    /// Returns the prefix of every key.
    pub fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// True if a batch of this size is sent with quiet requests and closed by a no-op.
    pub fn quiet(&self, batch: usize) -> bool {
        self.protocol == Protocol::Meta && batch > 1
    }

    /// Appends the request of `op`. Returns the length of the response if it succeeds.
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

    /// Returns the value of a hit and the bytes after its response, if `input` begins with the
    /// complete and exact response to a get of `key`; `number` identifies a quiet request. All
    /// other input is left to the parser.
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

    /// Appends the no-op that closes a quiet batch. Returns the length of its response.
    #[inline]
    pub fn close(&self, out: &mut Vec<u8>) -> usize {
        out.extend_from_slice(b"mn\r\n");
        4
    }
}

#[cfg(test)]
mod tests;
