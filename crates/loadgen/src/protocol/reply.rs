//! Responses of a server, common to all protocols.

use crate::latency::report::ErrorKind;

/// One piece of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply<'a> {
    /// A value begins; its bytes follow as `Chunk`s, then `ValueEnd`.
    Value {
        /// The key, if the response contains it.
        key: Option<&'a [u8]>,
        /// Number of the request, if the response contains it.
        opaque: Option<u32>,
        /// Length of the value in bytes.
        length: u64,
    },
    /// The next bytes of the value.
    Chunk(&'a [u8]),
    /// The value is complete.
    ValueEnd,
    /// End of a text get, after its value if there was one.
    End,
    /// The key does not exist; with the request's number, if the response contains it.
    Miss(Option<u32>),
    /// The value was stored; with the request's number, if the response contains it.
    Stored(Option<u32>),
    /// The value was rejected without an error; with the request's number, if the response contains
    /// it.
    NotStored(Option<u32>),
    /// Response to the no-op that closes a batch.
    Noop,
    /// A number: the response to a delete or an increment.
    Integer(i64),
    /// An array of this many values follows: the response to a multi-get.
    Array(u32),
    /// An error message of the server.
    Error {
        /// Kind of the error.
        kind: ErrorKind,
        /// Number of the request, if the response contains it.
        opaque: Option<u32>,
        /// The server's message as received.
        text: &'a [u8],
    },
}

/// Bytes that are no valid or expected response: the connection cannot be used any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {seen:?}")]
pub struct InvalidReply {
    /// Reason for the rejection.
    pub what: &'static str,
    /// The first 120 bytes of the input, as text.
    pub seen: String,
}

impl InvalidReply {
    /// Creates an error that shows the first bytes of `seen`.
    #[cold]
    pub fn new(what: &'static str, seen: &[u8]) -> Self {
        let seen = String::from_utf8_lossy(&seen[..seen.len().min(120)]).into_owned();
        InvalidReply { what, seen }
    }
}

/// Receiver of parsed responses.
pub trait Sink {
    /// Consumes the responses at the start of `input` that are complete and exactly as expected,
    /// and returns the remaining bytes. The parser calls it where a response begins.
    fn expected<'a>(&mut self, input: &'a [u8]) -> &'a [u8] {
        input
    }

    /// Receives the next piece.
    ///
    /// # Errors
    /// The piece was not expected; the parser stops.
    fn reply(&mut self, reply: Reply<'_>) -> Result<(), InvalidReply>;
}
