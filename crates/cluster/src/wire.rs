//! Framing of messages: four bytes of length (big-endian), then JSON. Binary data is encoded in
//! base64.

use std::io::{self, Read, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Maximum length of a message from a peer that has not shown the token yet.
pub(crate) const STRANGER: u32 = 64 << 10;
/// Maximum length of any message: logs, samples and kept files of a trial in base64.
pub(crate) const MAX_MESSAGE: u32 = 1 << 30;

/// Binary data in a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(Bytes).map_err(D::Error::custom)
    }
}

/// Sends one message and flushes.
pub(crate) fn send<T: Serialize>(to: &mut impl Write, message: &T) -> io::Result<()> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let length = u32::try_from(frame.len() - 4).ok().filter(|l| *l <= MAX_MESSAGE);
    let length = length.ok_or_else(|| io::Error::other("a message of more than 1 GiB"))?;
    frame[..4].copy_from_slice(&length.to_be_bytes());
    to.write_all(&frame)?;
    to.flush()
}

/// Receives one message of at most `most` bytes; `None` at the end of the connection.
pub(crate) fn receive<T: DeserializeOwned>(
    from: &mut impl Read,
    most: u32,
) -> io::Result<Option<T>> {
    let mut head = [0; 4];
    match from.read_exact(&mut head) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let length = u32::from_be_bytes(head);
    if length > most {
        return Err(io::Error::other(format!("a message of {length} bytes; the limit is {most}")));
    }
    // Allocates for received bytes only, since the announced length is not trusted.
    let mut body = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut body)?;
    if body.len() < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&body).map(Some).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_received() {
        let mut wire = Vec::new();
        send(&mut wire, &Bytes(vec![0, 255, 7])).unwrap();
        send(&mut wire, &Bytes(Vec::new())).unwrap();
        let mut from = wire.as_slice();
        assert_eq!(receive::<Bytes>(&mut from, 100).unwrap(), Some(Bytes(vec![0, 255, 7])));
        assert_eq!(receive::<Bytes>(&mut from, 100).unwrap(), Some(Bytes(Vec::new())));
        assert_eq!(receive::<Bytes>(&mut from, 100).unwrap(), None);
    }

    #[test]
    fn what_is_too_long_or_cut_off_is_refused() {
        assert!(receive::<Bytes>(&mut [0, 1, 0, 0, b'"'].as_slice(), 100).is_err());
        assert!(receive::<Bytes>(&mut [0, 0, 0, 9, b'"'].as_slice(), 100).is_err());
    }

    proptest::proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(0u8..=255, 0..300)) {
            let _ = receive::<crate::message::CollectorMessage>(&mut bytes.as_slice(), STRANGER);
        }
    }
}
