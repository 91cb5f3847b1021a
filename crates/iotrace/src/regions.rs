//! Which parts of a device are used: at most 1024 equal regions from block 0 (or from the first block
//! of a range), each a power of two of blocks. When an address lies beyond them, regions become twice
//! as large and neighbours are joined.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most regions.
pub const MAX_REGIONS: usize = 1024;

/// Counts of I/Os by region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regions {
    from: u64,
    shift: u32,
    counts: Vec<u64>,
}

impl Regions {
    /// Empty ones from block `from` on.
    pub fn new(from: u64) -> Self {
        Regions { from, shift: 0, counts: vec![0; MAX_REGIONS] }
    }

    /// Counts an I/O at a block; what lies before the first is counted in the first region.
    #[inline]
    pub fn add(&mut self, sector: u64) {
        self.add_n(sector, 1);
    }

    /// Counts `n` I/Os at a block.
    #[inline]
    pub fn add_n(&mut self, sector: u64, n: u64) {
        let at = sector.saturating_sub(self.from);
        loop {
            if let Some(count) = self.counts.get_mut((at >> self.shift) as usize) {
                *count += n;
                return;
            }
            self.widen();
        }
    }

    #[cold]
    fn widen(&mut self) {
        for i in 0..MAX_REGIONS / 2 {
            self.counts[i] = self.counts[2 * i] + self.counts[2 * i + 1];
        }
        self.counts[MAX_REGIONS / 2..].fill(0);
        self.shift += 1;
    }

    /// Adds what others from the same block on have counted.
    pub fn merge(&mut self, other: &Regions) {
        debug_assert_eq!(self.from, other.from);
        let mut other = other.clone();
        while other.shift < self.shift {
            other.widen();
        }
        while self.shift < other.shift {
            self.widen();
        }
        for (a, b) in self.counts.iter_mut().zip(&other.counts) {
            *a += b;
        }
    }

    /// What was counted, with the `top` fullest regions.
    pub fn report(&self, top: usize) -> RegionMap {
        let used = self.counts.iter().rposition(|c| *c > 0).map_or(0, |i| i + 1);
        let n: u64 = self.counts.iter().sum();
        let mut order: Vec<usize> = (0..used).filter(|i| self.counts[*i] > 0).collect();
        let occupied = order.len();
        order.sort_by_key(|i| (std::cmp::Reverse(self.counts[*i]), *i));
        order.truncate(top);
        let start = |i: usize| self.from.saturating_add((i as u64) << self.shift);
        RegionMap {
            from: self.from,
            region_blocks: 1 << self.shift,
            occupied,
            counts: self.counts[..used].to_vec(),
            top: order
                .into_iter()
                .map(|i| HotRegion {
                    from: start(i),
                    // The last region of all ends with the last block there can be.
                    to: start(i).saturating_add((1 << self.shift) - 1),
                    ios: self.counts[i],
                    share: self.counts[i] as f64 / n.max(1) as f64,
                })
                .collect(),
        }
    }
}

/// A region that is used more than others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HotRegion {
    /// Its first block.
    pub from: u64,
    /// Its last block.
    pub to: u64,
    /// I/Os that began in it.
    pub ios: u64,
    /// Their share of all, 0 to 1.
    pub share: f64,
}

/// A device by regions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RegionMap {
    /// The first block of the first region.
    pub from: u64,
    /// Blocks of a region.
    pub region_blocks: u64,
    /// How many regions have I/Os.
    pub occupied: usize,
    /// I/Os by region, up to the last region that has any.
    pub counts: Vec<u64>,
    /// The fullest, fullest first.
    pub top: Vec<HotRegion>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_grow_with_the_device() {
        let mut r = Regions::new(0);
        for sector in [0, 1, 1023, 1024, 4095, 1 << 20] {
            r.add(sector);
        }
        let map = r.report(3);
        // 2^20 needs regions of 2048 blocks, of which it is number 512.
        assert_eq!((map.region_blocks, map.counts.len(), map.occupied), (2048, 513, 3));
        assert_eq!((map.top[0].from, map.top[0].to, map.top[0].ios), (0, 2047, 4));
        assert!((map.top[0].share - 4.0 / 6.0).abs() < 1e-12);
        r.add(u64::MAX);
        assert!(r.report(9).top.iter().any(|t| t.to == u64::MAX), "found by fuzzing");
        assert_eq!(r.report(1).counts.iter().sum::<u64>(), 7);
    }

    #[test]
    fn merged_is_as_counted_together() {
        let mut rng = assay_stats::rng::Rng::new(5);
        let (mut a, mut b, mut both) = (Regions::new(64), Regions::new(64), Regions::new(64));
        for i in 0..3_000 {
            let sector = rng.below(if i % 2 == 0 { 9_000 } else { 4_000_000 }) as u64;
            if i % 2 == 0 {
                a.add(sector);
            } else {
                b.add(sector);
            }
            both.add(sector);
        }
        a.merge(&b);
        assert_eq!(a, both);
    }
}
