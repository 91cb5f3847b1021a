//! Keyed hashes, which show that two values are equal and reveal nothing else without the key.

use sha2::{Digest, Sha256};

/// Prefix of a hash that replaces a value.
pub(crate) const MARK: &str = "redacted:";

/// The key of an archive. Equal values have equal hashes in all its runs, and nobody without the
/// key can find a value by trying.
#[derive(Clone)]
pub struct RedactionKey(Vec<u8>);

impl std::fmt::Debug for RedactionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

impl RedactionKey {
    /// Makes a key from bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        RedactionKey(bytes.into())
    }

    /// Parses a key in the format of [`RedactionKey::to_hex`]; `None` for anything else, including
    /// an empty text.
    pub fn from_hex(text: &str) -> Option<Self> {
        let text = text.trim();
        let whole = !text.is_empty() && text.len().is_multiple_of(2) && text.is_ascii();
        let bytes: Option<Vec<u8>> = (0..text.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(text.get(i..i + 2)?, 16).ok())
            .collect();
        bytes.filter(|_| whole).map(RedactionKey)
    }

    /// Returns the key as hexadecimal digits, for its file and for an agent of the same run.
    pub fn to_hex(&self) -> String {
        digits(&self.0).collect()
    }

    /// Returns the first `digits` hexadecimal digits (at most 64) of SHA-256 over the key's length,
    /// the key and the value. The truncation also prevents length-extension attacks.
    pub(crate) fn digits(&self, value: &str, digits: usize) -> String {
        let mut hash = Sha256::new();
        hash.update((self.0.len() as u64).to_be_bytes());
        hash.update(&self.0);
        hash.update(value.as_bytes());
        self::digits(&hash.finalize()).take(digits).collect()
    }

    /// Returns the replacement of a value: `redacted:` and 16 digits. A replacement is returned
    /// unchanged.
    pub(crate) fn stand_in(&self, value: &str) -> String {
        if value.starts_with(MARK) {
            return value.to_owned();
        }
        format!("{MARK}{}", self.digits(value, 16))
    }
}

/// Returns bytes as hexadecimal digits.
fn digits(bytes: &[u8]) -> impl Iterator<Item = char> {
    let digit = |d: u8| char::from_digit(u32::from(d), 16).unwrap_or('0');
    bytes.iter().flat_map(move |b| [digit(b >> 4), digit(b & 15)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_needs_its_key_and_stays_what_it_is() {
        let (k, l) = (RedactionKey::new(*b"k"), RedactionKey::new(*b"l"));
        assert_eq!(k.stand_in("s"), k.stand_in("s"));
        assert_ne!(k.stand_in("s"), k.stand_in("t"));
        assert_ne!(k.stand_in("s"), l.stand_in("s"));
        assert_ne!(
            RedactionKey::new(*b"ab").digits("c", 16),
            RedactionKey::new(*b"a").digits("bc", 16)
        );
        assert_eq!(l.stand_in(&k.stand_in("s")), k.stand_in("s"));
        assert_eq!(k.stand_in("s").len(), MARK.len() + 16);
        assert_eq!(format!("{k:?}"), "Key(..)");
        assert_eq!(RedactionKey::from_hex(&k.to_hex()).unwrap().stand_in("s"), k.stand_in("s"));
        assert!(["", "0", "zz", "é"].iter().all(|bad| RedactionKey::from_hex(bad).is_none()));
    }
}
