//! The text, meta and binary protocols of memcached, and RESP, the protocol of Redis. Encoders
//! append requests to a buffer; incremental parsers read responses without storing values. A parser
//! reads untrusted data: it never panics, keeps at most a line of 4 KiB, and gives the same
//! responses however the bytes are split.

mod binary;
mod decimal;
mod lines;
mod meta;
pub(crate) mod pending;
mod reply;
mod resp;
mod text;

pub use meta::OPAQUES;
pub use reply::{InvalidReply, Reply, Sink};

use crate::config::Protocol;
use crate::login::first_request;
use crate::protocol::pending::Pending;
use crate::send::content::Content;
use crate::send::mix::Op;

/// The response parser of one connection.
#[derive(Debug)]
pub enum Parser {
    /// Text, meta and RESP, whose responses have the same framing.
    Lines(lines::TextParser),
    Binary(binary::Packets),
}

impl Parser {
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
    /// First request of a connection; empty if it needs none.
    pub greeting: Vec<u8>,
}

impl Encoder {
    /// Creates an encoder for keys with `prefix`.
    pub fn new(protocol: Protocol, prefix: &str) -> Self {
        let greeting = first_request(protocol, None);
        Encoder { protocol, prefix: prefix.as_bytes().to_vec(), greeting }
    }

    /// Creates a parser for a new connection.
    pub fn parser(&self) -> Parser {
        if self.protocol == Protocol::Binary {
            return Parser::Binary(binary::Packets::default());
        }
        let greets = !self.greeting.is_empty();
        Parser::Lines(lines::TextParser::new(self.protocol.is_resp(), greets))
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
            Protocol::Resp2 | Protocol::Resp3 => {
                resp::push(&self.prefix, op, self.null(), content, out)
            }
        }
    }

    /// Appends a key of a multi-get, whose beginning is [pushed](Encoder::push) before. Returns the
    /// length of its part of the response if it is a hit.
    #[inline]
    pub fn push_part(&self, op: &Op, out: &mut Vec<u8>) -> usize {
        resp::push_part(&self.prefix, op, self.null(), out)
    }

    /// Returns the length of the response to a get that misses (RESP).
    fn null(&self) -> usize {
        if self.protocol == Protocol::Resp3 { b"_\r\n".len() } else { b"$-1\r\n".len() }
    }

    /// Returns the bytes after the response to a set, if `input` begins with a complete one that
    /// needs no parser.
    #[inline]
    pub fn stored<'a>(&self, input: &'a [u8]) -> Option<&'a [u8]> {
        match self.protocol {
            Protocol::Resp2 | Protocol::Resp3 => input.strip_prefix(b"+OK\r\n"),
            _ => None,
        }
    }

    /// Returns the value of a hit and the bytes after its response, if `input` begins with the
    /// complete and exact response to the get `asked`; `number` identifies a quiet request. All
    /// other input is left to the parser.
    #[inline]
    pub fn hit<'a>(
        &self,
        asked: &Pending,
        number: Option<u32>,
        input: &'a [u8],
    ) -> Option<(&'a [u8], &'a [u8])> {
        match self.protocol {
            Protocol::Text => text::hit(&self.prefix, (asked.key, asked.pad), asked.length, input),
            Protocol::Meta => meta::hit(asked.length, number, input),
            Protocol::Resp2 | Protocol::Resp3 => resp::hit(asked.length, input),
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
