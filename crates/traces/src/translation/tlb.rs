//! One TLB: sets of ways, each ordered as its replacement policy needs.

use crate::translation::machine::Replacement;

/// Key of an empty way. No page has it (see [`crate::translation::simulator`]).
pub(crate) const EMPTY: u64 = u64::MAX;

/// A TLB of any shape. The ways of a set are in order: the front is the youngest (for LRU, the most
/// recently used), and the back is replaced first.
#[derive(Debug, Clone)]
pub(crate) struct Tlb {
    keys: Box<[u64]>,
    ways: usize,
    set_mask: u64,
    replacement: Replacement,
    random: u64,
}

impl Tlb {
    /// Creates an empty TLB. The caller ensures that `ways` divides `entries` into a power of two
    /// of sets.
    pub fn new(entries: usize, ways: usize, replacement: Replacement) -> Self {
        Tlb {
            keys: vec![EMPTY; entries].into_boxed_slice(),
            ways,
            set_mask: (entries / ways) as u64 - 1,
            replacement,
            random: 0x9e37_79b9_7f4a_7c15,
        }
    }

    /// Looks up a page, and makes it the most recently used. Returns true on a hit.
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

    /// Inserts a page that the TLB does not hold.
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

    pub fn flush(&mut self) {
        self.keys.fill(EMPTY);
    }
}
