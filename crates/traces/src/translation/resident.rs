//! The set of pages that a process has touched, up to a limit. It is allocated at its full size
//! from the start, so that the simulation of a stream does not allocate.

const FREE: u64 = u64::MAX;

/// A set of page keys that stops counting at its limit.
#[derive(Debug, Clone)]
pub(crate) struct Resident {
    slots: Box<[u64]>,
    count: usize,
    limit: usize,
}

impl Resident {
    /// Creates an empty set that counts up to `limit`.
    pub fn new(limit: usize) -> Self {
        let slots = (limit * 2).next_power_of_two().max(2);
        Resident { slots: vec![FREE; slots].into_boxed_slice(), count: 0, limit }
    }

    /// Returns a set of the same pages with a higher limit.
    pub fn grown(&self, limit: usize) -> Self {
        let mut larger = Resident::new(limit);
        for key in self.slots.iter().filter(|k| **k != FREE) {
            larger.add(*key);
        }
        larger
    }

    /// Adds a page. Returns true if the set is now at its limit.
    pub fn add(&mut self, key: u64) -> bool {
        let mask = self.slots.len() - 1;
        let mut at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.count < self.limit {
            if self.slots[at] == key {
                return false;
            }
            if self.slots[at] == FREE {
                self.slots[at] = key;
                self.count += 1;
                return self.count == self.limit;
            }
            at = (at + 1) & mask;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_each_page_once_and_stops() {
        let mut set = Resident::new(3);
        assert!(!set.add(7) && !set.add(7) && !set.add(0) && !set.add(7));
        assert!(set.add(9) && set.add(10));
        let mut larger = set.grown(4);
        assert!(!larger.add(0) && !larger.add(9));
        assert!(larger.add(1));
    }
}
