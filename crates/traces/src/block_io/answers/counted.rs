//! I/Os that were counted elsewhere, such as in the kernel by a tracer that keeps histograms there,
//! and arrive as sums. [`crate::block_io::IoAnalysis`] accepts them like single I/Os.

use crate::block_io::answers::histogram::Pow2;
use crate::block_io::answers::question::Measure;
use crate::block_io::matching::event::{Flags, Io, Op};
use crate::loglinear::LogLinear;

/// Counts of reads and writes by class. One I/O may belong to several classes.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClassCounts {
    /// Reads and writes submitted asynchronously.
    pub aio: u64,
    /// Writes without REQ_SYNC by kernel threads.
    pub writeback: u64,
    /// Reads and writes with REQ_RAHEAD.
    pub readahead: u64,
    /// Reads and writes without REQ_SYNC.
    pub nosync: u64,
}

impl ClassCounts {
    /// Returns the classes of one read or write.
    #[inline]
    pub fn from_io(io: &Io) -> Self {
        ClassCounts {
            aio: u64::from(io.flags.has(Flags::AIO)),
            writeback: u64::from(io.is_writeback()),
            readahead: u64::from(io.flags.has(Flags::READAHEAD)),
            nosync: u64::from(!io.flags.has(Flags::SYNC)),
        }
    }

    #[inline]
    pub fn add(&mut self, other: &ClassCounts) {
        self.aio += other.aio;
        self.writeback += other.writeback;
        self.readahead += other.readahead;
        self.nosync += other.nosync;
    }
}

/// I/Os with the same device, operation and so on that ended within one interval.
#[derive(Debug, Clone, Default)]
pub struct CountedIos {
    pub device: u32,
    /// Program; [`crate::block_io::NameTable::NONE`] if not recorded or not a dimension.
    pub program: u32,
    /// Process; `None` if not recorded or not a dimension.
    pub pid: Option<u32>,
    pub op: Op,
    /// File; [`crate::block_io::NameTable::NONE`] if not recorded or not a dimension.
    pub file: u32,
    /// Control group; [`crate::block_io::NameTable::NONE`] if not recorded or not a dimension.
    pub cgroup: u32,
    pub ios: u64,
    /// Sum of their sizes.
    pub bytes: u64,
    pub classes: ClassCounts,
    /// Time from the first traced event to completion, in nanoseconds.
    pub latency: LogLinear,
    /// Time from queueing to issue, in nanoseconds.
    pub queue: LogLinear,
    /// Time from issue to completion, in nanoseconds.
    pub device_time: LogLinear,
    /// Power-of-two histograms, with times in the unit of the question.
    pub rows: Vec<(Measure, Pow2)>,
    /// I/Os by region of the device: the region's first block, and the count.
    pub regions: Vec<(u64, u64)>,
}
