//! Counts I/Os by region of a device. The device is divided into at most 1024 equal regions from
//! block 0 (or from the first block of a range), each a power of two of blocks. When an address
//! lies beyond them, regions become twice as large and neighbors are joined.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of regions.
pub const MAX_REGIONS: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regions {
    from: u64,
    shift: u32,
    counts: Vec<u64>,
}

impl Regions {
    /// Creates empty regions that start at block `from`.
    pub fn new(from: u64) -> Self {
        Regions { from, shift: 0, counts: vec![0; MAX_REGIONS] }
    }

    /// Counts an I/O at a block. A block before the first region counts in the first region.
    #[inline]
    pub fn add(&mut self, sector: u64) {
        self.add_n(sector, 1);
    }

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

    /// Adds the counts of regions that start at the same block.
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

    /// Returns the counts, with the `top` busiest regions.
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
                    // The end saturates at the last possible block.
                    to: start(i).saturating_add((1 << self.shift) - 1),
                    ios: self.counts[i],
                    share: self.counts[i] as f64 / n.max(1) as f64,
                })
                .collect(),
        }
    }
}

/// One of the busiest regions of a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HotRegion {
    /// First block of the region.
    pub from: u64,
    /// Last block of the region.
    pub to: u64,
    /// I/Os that began in the region.
    pub ios: u64,
    /// Share of all I/Os, 0 to 1.
    pub share: f64,
}

/// I/O counts of a device by region.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RegionMap {
    /// First block of the first region.
    pub from: u64,
    /// Size of a region, in blocks.
    pub region_blocks: u64,
    /// Number of regions with I/Os.
    pub occupied: usize,
    /// I/Os by region, up to the last region with any.
    pub counts: Vec<u64>,
    /// Busiest regions, busiest first.
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
        // Block 2^20 needs regions of 2048 blocks and is in region 512.
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
