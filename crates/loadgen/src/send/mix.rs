//! Draws operations: kind, key, class, length and version.

use assay_stats::rng::Rng;

use crate::config::{KEY_DIGITS, KEY_LIMIT, MAX_KEY_BYTES, Mix};
use crate::send::content::mix;
use crate::send::keys::Keys;
use crate::sizes::Sizes;

/// Action on a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAction {
    /// Get a key that was set.
    Get,
    /// Get a key that is never set.
    GetAbsent,
    /// Set a key to a value.
    Set,
    /// Delete a key that was set.
    Delete,
    /// Add one to the connection's counter.
    Increment,
    /// Get several keys, whose number is the operation's `length`.
    MultiGet,
}

/// One operation on one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op {
    pub action: KeyAction,
    /// Id of the key; from [`KEY_LIMIT`] on for keys that are never set.
    pub key: u64,
    /// Bytes of padding after the key's digits.
    pub pad: u8,
    /// Index of its size class.
    pub class: u8,
    /// Length of its value in bytes.
    pub length: u32,
    /// Version of the value that a set writes.
    pub version: u8,
}

impl Op {
    /// True for both kinds of get.
    #[inline]
    pub(crate) fn is_get(&self) -> bool {
        matches!(self.action, KeyAction::Get | KeyAction::GetAbsent)
    }
}

/// Class, length and key length of every key: pure functions of seed and id.
#[derive(Debug, Clone)]
pub struct Objects {
    seed: u64,
    /// For each class: the exclusive upper bound of its 32-bit hashes, and the lengths.
    classes: Vec<(u32, Sizes)>,
    /// Length of a key without padding, and the lengths of keys.
    keys: Option<(u32, Sizes)>,
}

impl Objects {
    /// Creates the objects of a mix.
    pub fn new(mix_: &Mix, seed: u64) -> Self {
        let total: f64 = mix_.classes.iter().map(|c| c.share).sum();
        let last = mix_.classes.iter().rposition(|c| c.share > 0.0).unwrap_or(0);
        let mut sum = 0.0;
        let classes = mix_.classes.iter().enumerate().map(|(i, c)| {
            sum += c.share;
            let limit = if i >= last { u32::MAX } else { (sum / total * 2f64.powi(32)) as u32 };
            (limit, c.sizes.clone())
        });
        let plain = (mix_.key_prefix.len() + KEY_DIGITS) as u32;
        Objects {
            seed: mix(seed ^ 0x0B1E_C750_0000_0000),
            classes: classes.collect(),
            keys: mix_.key_sizes.clone().map(|sizes| (plain, sizes)),
        }
    }

    /// Returns the class and the length of a key's value.
    #[inline]
    pub fn class_and_length(&self, key: u64) -> (u8, u32) {
        let hash = mix(self.seed ^ key);
        let (low, high) = (hash as u32, hash >> 32);
        // A class with share 0 has the bound of the class before it and is skipped. `low` 0 also
        // reaches the first class that has a share.
        let class = self.classes.iter().position(|c| low < c.0).unwrap_or_else(|| {
            self.classes.iter().position(|c| c.0 == u32::MAX).unwrap_or(self.classes.len() - 1)
        });
        (class as u8, self.classes[class].1.at(high as u32))
    }

    /// Returns the bytes of padding of a key.
    #[inline]
    pub fn pad(&self, key: u64) -> u8 {
        let Some((plain, sizes)) = &self.keys else { return 0 };
        (sizes.at((mix(self.seed.rotate_left(17) ^ key) >> 32) as u32) - plain) as u8
    }

    fn op(&self, action: KeyAction, key: u64, version: u8) -> Op {
        let (class, length) = self.class_and_length(key);
        Op { action, key, pad: self.pad(key), class, length, version }
    }
}

/// Source of a mix's or a preload's operations.
#[derive(Debug)]
pub struct OperationSource {
    objects: Objects,
    rng: Rng,
    kind: SourceKind,
}

#[derive(Debug)]
enum SourceKind {
    Mix {
        keys: Keys,
        absent: u64,
        /// Cumulative thresholds of gets, multi-gets, deletes and increments.
        below: [u64; 4],
        hit_below: u64,
        parts: u32,
    },
    Preload {
        next: u64,
        end: u64,
    },
}

impl OperationSource {
    /// Creates an endless source of a mix's operations.
    pub fn mix(mix: &Mix, seed: u64, stream: u64) -> Self {
        let threshold = |share: f64| (share * 2f64.powi(32)) as u64;
        let mut sum = 0.0;
        let shares = [mix.get_share, mix.multi_get_share, mix.delete_share, mix.increment_share];
        OperationSource {
            objects: Objects::new(mix, seed),
            rng: Rng::new(crate::send::content::mix(seed).wrapping_add(stream)),
            kind: SourceKind::Mix {
                keys: Keys::new(mix.keys, mix.popularity),
                absent: mix.keys,
                below: shares.map(|share| {
                    sum += share;
                    threshold(sum)
                }),
                hit_below: threshold(mix.hit_ratio),
                parts: mix.multi_get_keys,
            },
        }
    }

    /// Creates a source with one set of each key of `from..to`.
    pub fn preload(mix: &Mix, seed: u64, from: u64, to: u64) -> Self {
        OperationSource {
            objects: Objects::new(mix, seed),
            rng: Rng::new(crate::send::content::mix(seed) ^ from),
            kind: SourceKind::Preload { next: from, end: to },
        }
    }

    /// Draws the next operation; `None` at the end of a preload. The key of an increment is left to
    /// the caller, and those of a multi-get are [parts](OperationSource::part).
    #[inline]
    pub fn draw(&mut self) -> Option<Op> {
        let dice = self.rng.next_u64();
        let version = (dice >> 20) as u8;
        let (action, key) = match &mut self.kind {
            SourceKind::Mix { keys, absent, below, hit_below, parts } => {
                let low = dice & 0xFFFF_FFFF;
                if low < below[0] {
                    get(keys, *absent, dice >> 32 < *hit_below, &mut self.rng)
                } else if low >= below[3] {
                    (KeyAction::Set, keys.next(&mut self.rng))
                } else if low < below[1] {
                    let (key, pad, class, length) = (0, 0, 0, *parts);
                    let action = KeyAction::MultiGet;
                    return Some(Op { action, key, pad, class, length, version });
                } else if low < below[2] {
                    (KeyAction::Delete, keys.next(&mut self.rng))
                } else {
                    (KeyAction::Increment, 0)
                }
            }
            SourceKind::Preload { next, end } => {
                if next >= end {
                    return None;
                }
                *next += 1;
                (KeyAction::Set, *next - 1)
            }
        };
        Some(self.objects.op(action, key, version))
    }

    /// Draws a key of a multi-get.
    #[inline]
    pub fn part(&mut self) -> Op {
        let dice = self.rng.next_u64();
        let (action, key) = match &mut self.kind {
            SourceKind::Mix { keys, absent, hit_below, .. } => {
                get(keys, *absent, dice >> 32 < *hit_below, &mut self.rng)
            }
            SourceKind::Preload { next, .. } => (KeyAction::Get, *next),
        };
        self.objects.op(action, key, 0)
    }

    /// Returns the set of a key that was gone.
    pub fn fill(&mut self, key: u64) -> Op {
        let version = self.rng.next_u64() as u8;
        self.objects.op(KeyAction::Set, key, version)
    }

    /// Returns the source's random generator, for think times and arrivals.
    pub fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }
}

/// Draws a key to get: one that was set, or one that never is.
#[inline]
fn get(keys: &mut Keys, absent: u64, hit: bool, rng: &mut Rng) -> (KeyAction, u64) {
    if hit {
        (KeyAction::Get, keys.next(rng))
    } else {
        (KeyAction::GetAbsent, rng.below(absent as usize) as u64 + KEY_LIMIT)
    }
}

/// Appends a key's text: prefix, ten hexadecimal digits and padding.
#[inline]
pub fn write_key(prefix: &[u8], key: u64, pad: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(prefix);
    out.extend_from_slice(&key_digits(key));
    if pad > 0 {
        out.extend_from_slice(padding(pad));
    }
}

/// Returns the padding of this length.
#[inline]
pub fn padding(pad: u8) -> &'static [u8] {
    &[b'.'; MAX_KEY_BYTES as usize][..usize::from(pad).min(MAX_KEY_BYTES as usize)]
}

/// Formats a key as hexadecimal digits.
#[inline]
pub fn key_digits(key: u64) -> [u8; KEY_DIGITS] {
    let mut digits = [0; KEY_DIGITS];
    digits[..2].copy_from_slice(&hex_digits((key >> 32) as u32)[6..]);
    digits[2..].copy_from_slice(&hex_digits(key as u32));
    digits
}

/// Formats a number as eight hexadecimal digits at once: a nibble is moved into each byte of a
/// word.
#[inline]
pub(crate) fn hex_digits(number: u32) -> [u8; 8] {
    let mut word = u64::from(number);
    word = (word << 16 | word) & 0x0000_FFFF_0000_FFFF;
    word = (word << 8 | word) & 0x00FF_00FF_00FF_00FF;
    word = (word << 4 | word) & 0x0F0F_0F0F_0F0F_0F0F;
    // Adding six carries nibbles of ten and more, whose digits are letters, into the next nibble.
    let letters = (word + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    (word + 0x3030_3030_3030_3030 + letters * u64::from(b'a' - b'0' - 10)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_sizes_are_as_asked() {
        let mix = Mix { hit_ratio: 0.75, ..Mix::default() };
        let mut source = OperationSource::mix(&mix, 9, 0);
        let n = 200_000;
        let (mut gets, mut absent, mut class) = (0u32, 0u32, [0u32; 3]);
        for _ in 0..n {
            let op = source.draw().unwrap();
            gets += u32::from(op.action != KeyAction::Set);
            absent += u32::from(op.action == KeyAction::GetAbsent);
            assert_eq!(op.action == KeyAction::GetAbsent, op.key >= KEY_LIMIT);
            class[op.class as usize] += 1;
            let c = &mix.classes[op.class as usize];
            assert!((c.sizes.min..=c.sizes.max).contains(&op.length));
        }
        let share = |x: u32| f64::from(x) / f64::from(n);
        assert!((share(gets) - 0.9).abs() < 0.005);
        assert!((share(absent) - 0.9 * 0.25).abs() < 0.005);
        for (i, want) in [0.6, 0.3, 0.1].into_iter().enumerate() {
            assert!((share(class[i]) - want).abs() < 0.02, "{class:?}");
        }
    }

    #[test]
    fn classes_without_a_share_are_never_drawn() {
        let mut mix = Mix::default();
        mix.classes[0].share = 0.0;
        mix.classes[2].share = 0.0;
        let objects = Objects::new(&mix, 1);
        assert!((0..10_000).all(|k| objects.class_and_length(k).0 == 1));
    }

    #[test]
    fn a_preload_has_each_key_once_and_the_ends_of_lengths_are_reached() {
        let mut mix = Mix { keys: 1000, ..Mix::default() };
        mix.classes.truncate(1);
        mix.classes[0].sizes.max = 7;
        let mut source = OperationSource::preload(&mix, 1, 10, 1000);
        let ops: Vec<Op> = std::iter::from_fn(|| source.draw()).collect();
        assert!(ops.iter().map(|o| o.key).eq(10..1000));
        let lengths: std::collections::BTreeSet<u32> = ops.iter().map(|o| o.length).collect();
        assert!(lengths.into_iter().eq(4..=7));
    }

    #[test]
    fn keys_are_written_with_all_digits() {
        let mut out = Vec::new();
        write_key(b"p:", 0x12_3456_789a, 3, &mut out);
        assert_eq!(out, b"p:123456789a...");
        for key in (0..70_000).chain((0..40).map(|bit| 1 << bit)).chain([KEY_LIMIT - 1, KEY_LIMIT])
        {
            assert_eq!(key_digits(key), format!("{key:010x}").as_bytes());
        }
    }
}
