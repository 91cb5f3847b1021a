//! Contents of values, and verification of responses without a table of values.
//!
//! A value is a function of (seed, key, length, version): one version byte, then up to eight bytes
//! of a stamp (a 64-bit hash of all four), then bytes of one pseudo-random buffer that all values
//! share, from an offset that the stamp determines. Writing a value is a copy, checking it a
//! comparison.
//!
//! The check detects any changed, missing, added or moved byte; the value of another key, of
//! another length or of another seed; and a value mixed from two versions of the same key. A
//! foreign value of the right length passes by chance once in 2^64 from 9 bytes on, and once in
//! 2^(8·(n−1)) for n bytes below that: one in 17 million for 4 bytes. It does not detect an older
//! version of the same key, which is a correct response wherever sets of several connections race.

use assay_stats::rng::Rng;

/// Number of offsets into the shared buffer.
const OFFSETS: usize = 1 << 16;
/// Bytes before the body: version and stamp.
const HEAD: usize = 9;

/// The shared buffer of pseudo-random bytes.
#[derive(Debug)]
pub struct Content {
    seed: u64,
    shared: Vec<u8>,
}

/// Mixes all bits: the finaliser of SplitMix64 (Steele, Lea and Flood, 2014), a bijection.
#[inline]
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

impl Content {
    /// Creates contents for values of up to `longest` bytes; takes `longest` + 64 KiB of memory.
    pub fn new(seed: u64, longest: u32) -> Self {
        let mut rng = Rng::new(seed ^ 0x00C0_47E4_75EE_D000);
        let words = (OFFSETS + longest as usize).div_ceil(8);
        let mut shared = Vec::with_capacity(words * 8);
        for _ in 0..words {
            shared.extend_from_slice(&rng.next_u64().to_le_bytes());
        }
        Content { seed: mix(seed ^ 0x9E37_79B9_7F4A_7C15), shared }
    }

    #[inline]
    fn head(&self, key: u64, length: u32, version: u8) -> ([u8; HEAD], usize) {
        let tail = (u64::from(length) << 8) | u64::from(version);
        let stamp = mix(mix(self.seed ^ key).wrapping_add(tail));
        let mut head = [version; HEAD];
        head[1..].copy_from_slice(&stamp.to_le_bytes());
        (head, (mix(stamp) >> 48) as usize)
    }

    /// Appends the value of `key`.
    #[inline]
    pub fn write(&self, key: u64, length: u32, version: u8, out: &mut Vec<u8>) {
        let (head, offset) = self.head(key, length, version);
        let length = length as usize;
        let short = length.min(HEAD);
        out.extend_from_slice(&head[..short]);
        out.extend_from_slice(&self.shared[offset..offset + length - short]);
    }

    /// Starts the check of a response for `key` whose stated length is correct.
    #[inline]
    pub fn check(&self, key: u64, length: u32) -> ValueCheck {
        ValueCheck { key, length, at: 0, offset: 0, head: [0; HEAD], right: true }
    }
}

/// Check of one value, which may arrive in pieces.
#[derive(Debug, Clone, Copy)]
pub struct ValueCheck {
    key: u64,
    length: u32,
    at: usize,
    offset: usize,
    head: [u8; HEAD],
    right: bool,
}

impl ValueCheck {
    /// Checks the next bytes of the value.
    #[inline]
    pub fn feed(&mut self, content: &Content, mut bytes: &[u8]) {
        if self.at + bytes.len() > self.length as usize {
            self.right = false;
            return;
        }
        if self.at == 0 {
            let Some(version) = bytes.first() else { return };
            (self.head, self.offset) = content.head(self.key, self.length, *version);
        }
        if self.at < HEAD {
            let n = bytes.len().min(HEAD - self.at);
            self.right &= bytes[..n] == self.head[self.at..self.at + n];
            self.at += n;
            bytes = &bytes[n..];
        }
        if !bytes.is_empty() {
            let from = self.offset + self.at - HEAD;
            self.right &= bytes == &content.shared[from..from + bytes.len()];
            self.at += bytes.len();
        }
    }

    /// True if all bytes arrived and were correct.
    #[inline]
    pub fn passed(&self) -> bool {
        self.right && self.at == self.length as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(content: &Content, key: u64, length: u32, version: u8) -> Vec<u8> {
        let mut out = Vec::new();
        content.write(key, length, version, &mut out);
        out
    }

    fn passes(content: &Content, key: u64, length: u32, pieces: &[&[u8]]) -> bool {
        let mut check = content.check(key, length);
        for piece in pieces {
            check.feed(content, piece);
        }
        check.passed()
    }

    proptest! {
        #[test]
        fn right_values_pass_in_any_pieces(key in 0u64..1 << 39, length in 4u32..5000,
                                           version: u8, cut in 0usize..5000, cut2 in 0usize..5000) {
            let content = Content::new(3, 5000);
            let v = value(&content, key, length, version);
            prop_assert_eq!(v.len(), length as usize);
            let (a, b) = (cut.min(cut2).min(v.len()), cut.max(cut2).min(v.len()));
            prop_assert!(passes(&content, key, length, &[&v[..a], &v[a..b], &v[b..]]));
        }

        #[test]
        fn any_changed_byte_fails(key in 0u64..1 << 39, length in 4u32..3000, at in 0usize..3000,
                                  by in 1u8..) {
            let content = Content::new(3, 3000);
            let mut v = value(&content, key, length, 7);
            let at = at % v.len();
            v[at] ^= by;
            // Changing the first byte selects another version: up to seven bytes after it may match
            // by chance.
            prop_assert!(!passes(&content, key, length, &[&v]));
        }
    }

    #[test]
    fn wrong_values_of_every_kind_fail() {
        let content = Content::new(3, 3000);
        let other_seed = Content::new(4, 3000);
        for length in [4, 8, 9, 10, 100, 3000] {
            let v = value(&content, 5, length, 1);
            assert!(!passes(&content, 6, length, &[&v]), "another key, {length}");
            assert!(!passes(&other_seed, 5, length, &[&v]), "another seed, {length}");
            assert!(!passes(&content, 5, length, &[&v[..v.len() - 1]]), "cut short, {length}");
            assert!(!passes(&content, 5, length - 1, &[&v]), "too long, {length}");
            let w = value(&content, 5, length, 2);
            let half = v.len() / 2;
            assert!(!passes(&content, 5, length, &[&v[..half], &w[half..]]), "torn, {length}");
        }
    }
}
