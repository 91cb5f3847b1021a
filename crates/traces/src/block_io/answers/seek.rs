//! Distance between consecutive I/Os of a device. An I/O that begins where the preceding one ended
//! is sequential.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block_io::answers::histogram::{HistogramRow, Pow2};

/// Distances between consecutive I/Os, in the order of their starts.
#[derive(Debug, Clone, Default)]
pub(crate) struct SeekDistances {
    /// First block of the first I/O; `None` before the first I/O.
    first: Option<u64>,
    /// Block after the end of the latest I/O.
    next: u64,
    sequential: u64,
    followers: u64,
    distances: Pow2,
}

impl SeekDistances {
    /// Counts an I/O that covers the blocks from `sector` up to, but excluding, `end`.
    #[inline]
    pub(crate) fn add(&mut self, sector: u64, end: u64) {
        if self.first.is_none() {
            self.first = Some(sector);
        } else {
            self.follow(sector);
        }
        self.next = end;
    }

    fn follow(&mut self, sector: u64) {
        self.followers += 1;
        self.sequential += u64::from(sector == self.next);
        self.distances.add(sector.abs_diff(self.next));
    }

    /// Appends the distances of a later part of the trace.
    pub(crate) fn join_later(&mut self, later: &SeekDistances) {
        let Some(sector) = later.first else { return };
        if self.first.is_none() {
            self.first = Some(sector);
        } else {
            self.follow(sector);
        }
        self.next = later.next;
        self.sequential += later.sequential;
        self.followers += later.followers;
        self.distances.merge(&later.distances);
    }

    pub(crate) fn report(&self) -> SeekReport {
        SeekReport {
            sequential_share: (self.followers > 0)
                .then(|| self.sequential as f64 / self.followers as f64),
            sequential: self.sequential,
            followers: self.followers,
            distance_blocks: self.distances.rows(),
        }
    }
}

/// Sequentiality of the I/Os of a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeekReport {
    /// Share of I/Os that begin where the preceding one ended, 0 to 1; `null` for fewer than two
    /// I/Os.
    pub sequential_share: Option<f64>,
    /// Number of sequential I/Os.
    pub sequential: u64,
    /// Number of I/Os with a predecessor: all but the first.
    pub followers: u64,
    /// Distance from the end of one I/O to the start of the next, in blocks, in either direction,
    /// by powers of two.
    pub distance_blocks: Vec<HistogramRow>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_parts_are_as_counted_together() {
        let ios = [(0, 8), (8, 16), (16, 24), (1000, 1008), (24, 32), (32, 40)];
        let mut all = SeekDistances::default();
        let add = |to: &mut SeekDistances, ios: &[(u64, u64)]| {
            for (sector, end) in ios {
                to.add(*sector, *end);
            }
        };
        add(&mut all, &ios);
        assert_eq!((all.report().sequential, all.report().followers), (3, 5));
        for cut in 0..=ios.len() {
            let (mut a, mut b) = (SeekDistances::default(), SeekDistances::default());
            add(&mut a, &ios[..cut]);
            add(&mut b, &ios[cut..]);
            a.join_later(&b);
            assert_eq!(a.report(), all.report(), "cut at {cut}");
        }
        assert_eq!(SeekDistances::default().report().sequential_share, None);
    }
}
