//! The framing that text, meta and RESP responses share: a line, followed by a data block after
//! some lines.

use super::{InvalidReply, Reply, Sink, meta, resp, text};
use crate::latency::report::ErrorKind;
use crate::login::refusal;

/// Maximum length of a line. Keys have at most 250 bytes and error texts at most 1 KiB.
const MAX_LINE: usize = 4096;

/// State of the parser between two reads.
#[derive(Debug, Default)]
pub struct TextParser {
    /// First bytes of a line whose end has not arrived.
    partial: Vec<u8>,
    state: TextParserState,
    /// True if the responses are those of RESP.
    resp: bool,
    /// Elements of the response to the first request that are still to come and are skipped.
    greeting: u32,
}

#[derive(Debug, Default, Clone, Copy)]
enum TextParserState {
    #[default]
    Line,
    /// Number of bytes of the value still to come.
    Value(u64),
    /// The value is complete; number of bytes received of the CR LF after it.
    Behind(u8),
}

impl TextParser {
    /// Creates a parser of RESP, or of memcached's responses, which `greets` begins with one to the
    /// connection's first request.
    pub fn new(resp: bool, greets: bool) -> Self {
        TextParser { resp, greeting: u32::from(greets), ..TextParser::default() }
    }

    /// Parses the next bytes; see [`super::Parser::feed`].
    pub fn feed(&mut self, mut input: &[u8], sink: &mut impl Sink) -> Result<(), InvalidReply> {
        while !input.is_empty() {
            input = match self.state {
                TextParserState::Line if self.partial.is_empty() && self.greeting == 0 => {
                    match sink.expected(input) {
                        [] => return Ok(()),
                        rest => self.line(rest, sink)?,
                    }
                }
                TextParserState::Line => self.line(input, sink)?,
                TextParserState::Value(left) => {
                    let n = left.min(input.len() as u64) as usize;
                    if n > 0 && self.greeting == 0 {
                        sink.reply(Reply::Chunk(&input[..n]))?;
                    }
                    let left = left - n as u64;
                    self.state = if left == 0 {
                        TextParserState::Behind(0)
                    } else {
                        TextParserState::Value(left)
                    };
                    &input[n..]
                }
                TextParserState::Behind(seen) => {
                    if input[0] != b"\r\n"[usize::from(seen)] {
                        return Err(InvalidReply::new(
                            "a value longer than its header states",
                            input,
                        ));
                    }
                    if seen == 0 {
                        self.state = TextParserState::Behind(1);
                    } else {
                        self.state = TextParserState::Line;
                        match self.greeting {
                            0 => sink.reply(Reply::ValueEnd)?,
                            left => self.greeting = left - 1,
                        }
                    }
                    &input[1..]
                }
            };
        }
        Ok(())
    }

    fn line<'a>(
        &mut self,
        input: &'a [u8],
        sink: &mut impl Sink,
    ) -> Result<&'a [u8], InvalidReply> {
        let Some(end) = input.iter().position(|b| *b == b'\n') else {
            if self.partial.len() + input.len() > MAX_LINE {
                return Err(InvalidReply::new("a line without end", &self.partial));
            }
            self.partial.extend_from_slice(input);
            return Ok(&[]);
        };
        let rest = &input[end + 1..];
        if self.partial.is_empty() {
            self.state = self.answer(&input[..end], sink)?;
            return Ok(rest);
        }
        let mut whole = std::mem::take(&mut self.partial);
        // A line in pieces has the same maximum length as one that arrives whole.
        if whole.len() + end > MAX_LINE {
            return Err(InvalidReply::new("a line without end", &whole));
        }
        whole.extend_from_slice(&input[..end]);
        let state = self.answer(&whole, sink);
        whole.clear();
        self.partial = whole;
        self.state = state?;
        Ok(rest)
    }

    /// Passes the response on a line to the sink. Returns the parser state that follows.
    #[inline]
    fn answer(
        &mut self,
        line: &[u8],
        sink: &mut impl Sink,
    ) -> Result<TextParserState, InvalidReply> {
        if line.len() > MAX_LINE {
            return Err(InvalidReply::new("a line without end", line));
        }
        let [line @ .., b'\r'] = line else {
            return Err(InvalidReply::new("a line that does not end in CR LF", line));
        };
        let data = if self.greeting > 0 {
            let (left, text) = match line {
                _ if self.resp => resp::greeting(line, self.greeting)?,
                b"STORED" => (0, None),
                _ => return Err(InvalidReply::new("the server refused the login", refusal(line))),
            };
            self.greeting = left;
            text
        } else {
            let reply = if self.resp { resp::reply(line)? } else { memcached(line)? };
            sink.reply(reply)?;
            match reply {
                Reply::Value { length, .. } => Some(length),
                _ => None,
            }
        };
        Ok(match data {
            None => TextParserState::Line,
            Some(0) => TextParserState::Behind(0),
            Some(length) => TextParserState::Value(length),
        })
    }
}

/// Parses a line of a text or meta response.
#[inline]
fn memcached(line: &[u8]) -> Result<Reply<'_>, InvalidReply> {
    Ok(match line {
        [b'V', b'A', b' ', rest @ ..] => meta::value(rest)?,
        [b'V', b'A', b'L', b'U', b'E', b' ', rest @ ..] => text::value(rest)?,
        b"END" => Reply::End,
        b"STORED" => Reply::Stored(None),
        b"NOT_STORED" => Reply::NotStored(None),
        b"MN" => Reply::Noop,
        [b'H', b'D', flags @ ..] => Reply::Stored(meta::opaque(flags)?),
        [b'N', b'S', flags @ ..] => Reply::NotStored(meta::opaque(flags)?),
        [b'E', b'N'] => Reply::Miss(None),
        [b'E', b'N', b' ', flags @ ..] => Reply::Miss(meta::opaque(flags)?),
        _ if line.starts_with(b"SERVER_ERROR") => {
            Reply::Error { kind: ErrorKind::ServerError, opaque: None, text: line }
        }
        _ if line.starts_with(b"ERROR") || line.starts_with(b"CLIENT_ERROR") => {
            Reply::Error { kind: ErrorKind::ClientError, opaque: None, text: line }
        }
        _ => return Err(InvalidReply::new("not an answer of memcached", line)),
    })
}
