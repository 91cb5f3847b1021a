//! The binary protocol: a header of 24 bytes, followed by the body. Field names and values are
//! those of memcached's `protocol_binary.h` and of its document "Memcache Binary Protocol".

use super::{InvalidReply, Reply, Sink};
use crate::config::{KEY_DIGITS, KEY_LIMIT};
use crate::latency::report::ErrorKind;
use crate::send::content::Content;
use crate::send::mix::{Op, write_key};

const HEADER: usize = 24;
const REQUEST: u8 = 0x80;
const RESPONSE: u8 = 0x81;
const GET: u8 = 0x00;
const SET: u8 = 0x01;
const OK: u16 = 0x00;
const NOT_FOUND: u16 = 0x01;
const TOO_LARGE: u16 = 0x03;
const NOT_STORED: u16 = 0x05;
/// Statuses from here on are failures of the server: out of memory, internal error, busy, temporary
/// failure.
const SERVER: u16 = 0x82;
/// Length of the flags before a value.
const GET_EXTRAS: usize = 4;
/// Length of the flags and expiry of a set.
const SET_EXTRAS: usize = 8;
/// Maximum number of bytes kept of an error's text.
const TEXT: usize = 256;

/// Appends a request. Returns the length of the response to a hit, to a stored set, or to a get of
/// a key that is never set.
#[inline]
pub fn push(prefix: &[u8], op: &Op, number: u32, content: &Content, out: &mut Vec<u8>) -> usize {
    let key = prefix.len() + KEY_DIGITS + usize::from(op.pad);
    let (opcode, extras, value) =
        if op.is_get() { (GET, 0, 0) } else { (SET, SET_EXTRAS, op.length as usize) };
    let body = (extras + key + value) as u32;
    let mut header = [0u8; HEADER];
    header[0] = REQUEST;
    header[1] = opcode;
    header[2..4].copy_from_slice(&(key as u16).to_be_bytes());
    header[4] = extras as u8;
    header[8..12].copy_from_slice(&body.to_be_bytes());
    header[12..16].copy_from_slice(&number.to_be_bytes());
    out.extend_from_slice(&header);
    out.extend_from_slice(&[0; SET_EXTRAS][..extras]);
    write_key(prefix, op.key, op.pad, out);
    if !op.is_get() {
        content.write(op.key, op.length, op.version, out);
        return HEADER;
    }
    let body =
        if op.key >= KEY_LIMIT { b"Not found".len() } else { GET_EXTRAS + op.length as usize };
    HEADER + body
}

/// State of the parser between two reads.
#[derive(Debug, Default)]
pub struct Packets {
    header: [u8; HEADER],
    have: usize,
    stage: BinaryParserState,
    /// First bytes of an error's text.
    text: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy)]
enum BinaryParserState {
    #[default]
    Header,
    /// Bytes to skip before the value (extras and key); `value` is the value's length.
    Skip {
        left: u32,
        value: u32,
        opaque: u32,
    },
    Value(u32),
    /// Reading the text of an error.
    Text {
        left: u32,
        status: u16,
        opaque: u32,
    },
}

impl Packets {
    /// Parses the next bytes; see [`super::Parser::feed`].
    pub fn feed(&mut self, mut input: &[u8], sink: &mut impl Sink) -> Result<(), InvalidReply> {
        while !input.is_empty() {
            let taken = match self.stage {
                BinaryParserState::Header => {
                    let n = input.len().min(HEADER - self.have);
                    self.header[self.have..self.have + n].copy_from_slice(&input[..n]);
                    self.have += n;
                    if self.have == HEADER {
                        self.have = 0;
                        self.begin(sink)?;
                    }
                    n
                }
                BinaryParserState::Skip { left, value, opaque } => {
                    let n = (left as usize).min(input.len());
                    self.skip(left - n as u32, value, opaque, sink)?;
                    n
                }
                BinaryParserState::Value(left) => {
                    let n = (left as usize).min(input.len());
                    sink.reply(Reply::Chunk(&input[..n]))?;
                    self.value(left - n as u32, sink)?;
                    n
                }
                BinaryParserState::Text { left, status, opaque } => {
                    let n = (left as usize).min(input.len());
                    let room = TEXT.saturating_sub(self.text.len()).min(n);
                    self.text.extend_from_slice(&input[..room]);
                    self.text(left - n as u32, status, opaque, sink)?;
                    n
                }
            };
            input = &input[taken..];
        }
        Ok(())
    }

    fn begin(&mut self, sink: &mut impl Sink) -> Result<(), InvalidReply> {
        let h = &self.header;
        let key = u32::from(u16::from_be_bytes([h[2], h[3]]));
        let extras = u32::from(h[4]);
        let status = u16::from_be_bytes([h[6], h[7]]);
        let body = u32::from_be_bytes([h[8], h[9], h[10], h[11]]);
        let opaque = u32::from_be_bytes([h[12], h[13], h[14], h[15]]);
        if h[0] != RESPONSE || key + extras > body {
            return Err(InvalidReply::new("not an answer of the binary protocol", h));
        }
        match (h[1], status) {
            (GET, OK) => self.skip(key + extras, body - key - extras, opaque, sink),
            (SET, OK) if body == 0 => sink.reply(Reply::Stored(Some(opaque))),
            (GET | SET, status) if status != OK => {
                self.text.clear();
                self.text(body, status, opaque, sink)
            }
            _ => Err(InvalidReply::new("an answer to a request that was not sent", h)),
        }
    }

    fn skip(
        &mut self,
        left: u32,
        value: u32,
        opaque: u32,
        sink: &mut impl Sink,
    ) -> Result<(), InvalidReply> {
        self.stage = BinaryParserState::Skip { left, value, opaque };
        if left == 0 {
            let opaque = Some(opaque);
            sink.reply(Reply::Value { key: None, opaque, length: u64::from(value) })?;
            self.value(value, sink)?;
        }
        Ok(())
    }

    fn value(&mut self, left: u32, sink: &mut impl Sink) -> Result<(), InvalidReply> {
        self.stage = BinaryParserState::Value(left);
        if left == 0 {
            self.stage = BinaryParserState::Header;
            sink.reply(Reply::ValueEnd)?;
        }
        Ok(())
    }

    fn text(
        &mut self,
        left: u32,
        status: u16,
        opaque: u32,
        sink: &mut impl Sink,
    ) -> Result<(), InvalidReply> {
        self.stage = BinaryParserState::Text { left, status, opaque };
        if left == 0 {
            self.stage = BinaryParserState::Header;
            let (text, opaque) = (self.text.as_slice(), Some(opaque));
            sink.reply(match status {
                NOT_FOUND => Reply::Miss(opaque),
                NOT_STORED => Reply::NotStored(opaque),
                TOO_LARGE | SERVER.. => Reply::Error { kind: ErrorKind::ServerError, opaque, text },
                _ => Reply::Error { kind: ErrorKind::ClientError, opaque, text },
            })?;
        }
        Ok(())
    }
}
