//! Requests in flight, with a first-in-first-out queue for every key. A hash table with chaining
//! whose slots are in one vector, so that a request needs no allocation once the vector has grown
//! to the largest number in flight.

use std::hash::{BuildHasher, RandomState};

/// Identity of a request: block, bytes, and device with operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestKey {
    pub(crate) sector: u64,
    pub(crate) bytes: u64,
    pub(crate) which: u64,
}

impl RequestKey {
    pub(crate) fn new(device: u32, op: u8, sector: u64, bytes: u64) -> Self {
        RequestKey { sector, bytes, which: u64::from(device) << 8 | u64::from(op) }
    }
}

const NIL: u32 = u32::MAX;

#[derive(Debug, Clone)]
struct RequestSlot<T> {
    key: RequestKey,
    value: T,
    /// For the oldest request of a key: the oldest of the next key in the bucket. For a free slot:
    /// the next free one.
    next_key: u32,
    /// Next younger request of the same key.
    younger: u32,
    /// Next older request of the same key.
    older: u32,
    /// For the oldest request of a key: the youngest.
    youngest: u32,
    /// For the oldest request of a key: number of requests with the key.
    count: u32,
    /// For the oldest request of a key: true if a twin was taken since the key was last without
    /// requests.
    mixed: bool,
    used: bool,
}

/// A request that was taken out of the table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TakenRequest<T> {
    pub(crate) value: T,
    /// True if the request had a twin, so that the end may belong to the other one.
    pub(crate) ambiguous: bool,
}

#[derive(Debug)]
pub(crate) struct InFlight<T> {
    buckets: Vec<u32>,
    slots: Vec<RequestSlot<T>>,
    free: u32,
    length: usize,
    most: usize,
    seed: u64,
}

impl<T: Copy> InFlight<T> {
    /// Creates an empty table for at most `most` requests.
    pub(crate) fn new(most: usize) -> Self {
        InFlight {
            buckets: vec![NIL; 256],
            slots: Vec::new(),
            free: NIL,
            length: 0,
            most,
            seed: RandomState::new().hash_one(0) | 1,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn is_full(&self) -> bool {
        self.length >= self.most
    }

    #[inline]
    fn bucket(&self, key: &RequestKey) -> usize {
        let mixed = (key.sector ^ self.seed).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ (key.bytes.rotate_left(32) ^ key.which).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(self.seed);
        (mixed >> 32) as usize & (self.buckets.len() - 1)
    }

    /// Returns the slot before the oldest request of a key in its bucket, and its own slot.
    #[inline]
    fn find(&self, bucket: usize, key: &RequestKey) -> (u32, u32) {
        let (mut before, mut at) = (NIL, self.buckets[bucket]);
        while at != NIL && self.slots[at as usize].key != *key {
            before = at;
            at = self.slots[at as usize].next_key;
        }
        (before, at)
    }

    /// Adds a request as the youngest of its key. The table must not be full.
    #[inline]
    pub(crate) fn push(&mut self, key: RequestKey, value: T) {
        debug_assert!(!self.is_full());
        if self.length >= self.buckets.len() {
            self.grow();
        }
        let bucket = self.bucket(&key);
        let (_, oldest) = self.find(bucket, &key);
        let slot = RequestSlot {
            key,
            value,
            next_key: NIL,
            younger: NIL,
            older: NIL,
            youngest: NIL,
            count: 1,
            mixed: false,
            used: true,
        };
        let at = self.place(slot);
        self.length += 1;
        if oldest == NIL {
            self.slots[at as usize].next_key = self.buckets[bucket];
            self.slots[at as usize].youngest = at;
            self.buckets[bucket] = at;
        } else {
            let last = self.slots[oldest as usize].youngest;
            self.slots[last as usize].younger = at;
            self.slots[at as usize].older = last;
            let head = &mut self.slots[oldest as usize];
            head.youngest = at;
            head.count += 1;
        }
    }

    #[inline]
    fn place(&mut self, slot: RequestSlot<T>) -> u32 {
        if self.free == NIL {
            self.slots.push(slot);
            return self.slots.len() as u32 - 1;
        }
        let at = self.free;
        self.free = self.slots[at as usize].next_key;
        self.slots[at as usize] = slot;
        at
    }

    #[inline]
    fn release(&mut self, at: u32) -> T {
        let free = self.free;
        let slot = &mut self.slots[at as usize];
        slot.used = false;
        slot.next_key = free;
        self.free = at;
        self.length -= 1;
        slot.value
    }

    /// Returns the oldest request of a key without taking it out.
    pub(crate) fn oldest(&self, key: &RequestKey) -> Option<T> {
        let (_, at) = self.find(self.bucket(key), key);
        (at != NIL).then(|| self.slots[at as usize].value)
    }

    #[inline]
    pub(crate) fn take_oldest(&mut self, key: &RequestKey) -> Option<TakenRequest<T>> {
        let bucket = self.bucket(key);
        let (before, at) = self.find(bucket, key);
        if at == NIL {
            return None;
        }
        let RequestSlot { next_key, younger, youngest, count, mixed, .. } = self.slots[at as usize];
        let ambiguous = count > 1 || mixed;
        let follower = if younger == NIL {
            next_key
        } else {
            let head = &mut self.slots[younger as usize];
            head.older = NIL;
            head.next_key = next_key;
            head.youngest = youngest;
            head.count = count - 1;
            head.mixed = true;
            younger
        };
        if before == NIL {
            self.buckets[bucket] = follower;
        } else {
            self.slots[before as usize].next_key = follower;
        }
        Some(TakenRequest { value: self.release(at), ambiguous })
    }

    pub(crate) fn take_youngest(&mut self, key: &RequestKey) -> Option<T> {
        let (_, head) = self.find(self.bucket(key), key);
        if head == NIL || self.slots[head as usize].count == 1 {
            return self.take_oldest(key).map(|t| t.value);
        }
        let last = self.slots[head as usize].youngest;
        let older = self.slots[last as usize].older;
        self.slots[older as usize].younger = NIL;
        let head = &mut self.slots[head as usize];
        head.youngest = older;
        head.count -= 1;
        Some(self.release(last))
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.buckets);
        self.buckets = vec![NIL; old.len() * 2];
        for mut at in old {
            while at != NIL {
                let next = self.slots[at as usize].next_key;
                let bucket = self.bucket(&self.slots[at as usize].key);
                self.slots[at as usize].next_key = self.buckets[bucket];
                self.buckets[bucket] = at;
                at = next;
            }
        }
    }

    /// Takes out every request that `gives_up` selects, oldest of each key first.
    pub(crate) fn take_all(&mut self, mut gives_up: impl FnMut(&T) -> bool) -> Vec<T> {
        let mut kept = Vec::new();
        let mut taken = Vec::new();
        for head in std::mem::take(&mut self.buckets) {
            let mut head = head;
            while head != NIL {
                let next = self.slots[head as usize].next_key;
                let mut at = head;
                while at != NIL {
                    let slot = &self.slots[at as usize];
                    if gives_up(&slot.value) {
                        taken.push(slot.value);
                    } else {
                        kept.push((slot.key, slot.value));
                    }
                    at = slot.younger;
                }
                head = next;
            }
        }
        *self = InFlight { seed: self.seed, ..InFlight::new(self.most) };
        for (key, value) in kept {
            self.push(key, value);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, VecDeque};

    use super::*;

    fn key(n: u64) -> RequestKey {
        RequestKey::new(1, 0, n, 4096)
    }

    #[test]
    fn first_in_is_first_out() {
        let mut t = InFlight::new(100);
        for v in 0..3 {
            t.push(key(5), v);
        }
        t.push(key(6), 9);
        let mut take = |n| t.take_oldest(&key(n)).map(|t| (t.value, t.ambiguous));
        assert_eq!(take(5), Some((0, true)));
        assert_eq!(take(5), Some((1, true)));
        assert_eq!(take(5), Some((2, true)), "the last of twins may be another's as well");
        assert_eq!((take(5), take(6)), (None, Some((9, false))));
    }

    #[test]
    fn as_a_map_of_queues() {
        let mut rng = assay_stats::rng::Rng::new(17);
        let mut model: HashMap<u64, VecDeque<u32>> = HashMap::new();
        let mut t = InFlight::new(5_000);
        for v in 0..200_000u32 {
            let n = rng.below(700) as u64;
            let queue = model.entry(n).or_default();
            match rng.below(5) {
                0 | 1 if !t.is_full() => {
                    t.push(key(n), v);
                    queue.push_back(v);
                }
                2 => assert_eq!(t.take_youngest(&key(n)), queue.pop_back()),
                3 => assert_eq!(t.oldest(&key(n)), queue.front().copied()),
                _ => {
                    assert_eq!(t.take_oldest(&key(n)).map(|t| t.value), queue.pop_front());
                }
            }
            if v % 50_000 == 49_999 {
                let mut taken = t.take_all(|v| v % 3 == 0);
                let mut want: Vec<u32> = Vec::new();
                for queue in model.values_mut() {
                    want.extend(queue.iter().filter(|v| **v % 3 == 0));
                    queue.retain(|v| v % 3 != 0);
                }
                taken.sort_unstable();
                want.sort_unstable();
                assert_eq!(taken, want);
            }
            assert_eq!(t.len(), model.values().map(VecDeque::len).sum::<usize>());
            if v % 3_000 == 0 {
                model.retain(|_, q| !q.is_empty());
            }
        }
    }
}
