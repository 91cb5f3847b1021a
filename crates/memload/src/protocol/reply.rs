//! What a server answers, whatever the protocol.

use crate::report::ErrorKind;

/// The server's reply, piece by piece.
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
    /// There is no such key; the number of the request, where the answer names it.
    Miss(Option<u32>),
    /// The value was stored; the number likewise.
    Stored(Option<u32>),
    /// The value was refused without an error; the number likewise.
    NotStored(Option<u32>),
    /// The no-op was reached.
    Noop,
    /// The server failed or did not understand, in its own words.
    Error {
        /// `ServerError` or `ClientError`.
        kind: ErrorKind,
        /// The number of the request, where the answer names it.
        opaque: Option<u32>,
        /// Its message.
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
    /// Takes the answers at the beginning of `input` that are whole and exactly what is asked for, and
    /// gives what follows them. The parser asks where an answer begins.
    fn expected<'a>(&mut self, input: &'a [u8]) -> &'a [u8] {
        input
    }

    /// The next piece.
    ///
    /// # Errors
    /// It was not asked for; the parser stops.
    fn reply(&mut self, reply: Reply<'_>) -> Result<(), Garbled>;
}
