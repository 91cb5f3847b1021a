//! One TLB: sets of ways, each set in the order that its replacement needs.

use crate::machine::Replacement;

/// The key of an empty way; no page has it (see [`crate::simulator`]).
pub(crate) const EMPTY: u64 = u64::MAX;

/// A TLB of any shape. A set's ways are kept in order: the front is the youngest (or, for LRU, the one
/// used last), the end goes first.
#[derive(Debug, Clone)]
pub(crate) struct Tlb {
    keys: Box<[u64]>,
    ways: usize,
    set_mask: u64,
    replacement: Replacement,
    random: u64,
}

impl Tlb {
    /// An empty one. The shape was checked: `ways` divides `entries`, into a power of two of sets.
    pub fn new(entries: usize, ways: usize, replacement: Replacement) -> Self {
        Tlb {
            keys: vec![EMPTY; entries].into_boxed_slice(),
            ways,
            set_mask: (entries / ways) as u64 - 1,
            replacement,
            random: 0x9e37_79b9_7f4a_7c15,
        }
    }

    /// Whether it holds the page, which is then the one used last.
    #[inline]
    pub fn hit(&mut self, page: u64, key: u64) -> bool {
        let start = (page & self.set_mask) as usize * self.ways;
        let set = &mut self.keys[start..start + self.ways];
        if set[0] == key {
            return true;
        }
        let Some(at) = set.iter().position(|k| *k == key) else { return false };
        if self.replacement == Replacement::Lru {
            set.copy_within(..at, 1);
            set[0] = key;
        }
        true
    }

    /// Takes in a page that it does not hold.
    #[inline]
    pub fn insert(&mut self, page: u64, key: u64) {
        let start = (page & self.set_mask) as usize * self.ways;
        let last = self.ways - 1;
        let set = &mut self.keys[start..start + self.ways];
        if self.replacement == Replacement::Random && set[last] != EMPTY {
            // xorshift64: any generator will do, and this one is repeatable.
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            set[(self.random % self.ways as u64) as usize] = key;
            return;
        }
        set.copy_within(..last, 1);
        set[0] = key;
    }

    /// Forgets everything.
    pub fn flush(&mut self) {
        self.keys.fill(EMPTY);
    }
}
