//! I/Os that were counted elsewhere (in a kernel, by a tracer that keeps histograms there) and come as
//! sums: an [`crate::Analysis`] takes them as it takes single I/Os.

use crate::event::{Flags, Io, Op};
use crate::histogram::Pow2;
use crate::loglinear::LogLinear;
use crate::question::Measure;

/// Reads and writes by class; one may be of several.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClassCounts {
    /// Submitted asynchronously.
    pub aio: u64,
    /// Writes without REQ_SYNC by kernel threads.
    pub writeback: u64,
    /// With REQ_RAHEAD.
    pub readahead: u64,
    /// Without REQ_SYNC.
    pub nosync: u64,
}

impl ClassCounts {
    /// The classes of one read or write.
    #[inline]
    pub fn of(io: &Io) -> Self {
        ClassCounts {
            aio: u64::from(io.flags.has(Flags::AIO)),
            writeback: u64::from(io.is_writeback()),
            readahead: u64::from(io.flags.has(Flags::READAHEAD)),
            nosync: u64::from(!io.flags.has(Flags::SYNC)),
        }
    }

    /// Adds others.
    #[inline]
    pub fn add(&mut self, other: &ClassCounts) {
        self.aio += other.aio;
        self.writeback += other.writeback;
        self.readahead += other.readahead;
        self.nosync += other.nosync;
    }
}

/// I/Os of one device, operation and so on that ended within one stretch of time.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    /// The device.
    pub device: u32,
    /// The program; [`crate::Names::NONE`]: not recorded, or not a dimension.
    pub program: u32,
    /// The process; `None`: not recorded, or not a dimension.
    pub pid: Option<u32>,
    /// What they do.
    pub op: Op,
    /// The file; [`crate::Names::NONE`]: not recorded, or not a dimension.
    pub file: u32,
    /// The control group; [`crate::Names::NONE`]: not recorded, or not a dimension.
    pub cgroup: u32,
    /// How many.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Number of I/Os of each class.
    pub classes: ClassCounts,
    /// From the first moment that is traced to the end.
    pub latency: LogLinear,
    /// From being queued to being issued.
    pub queue: LogLinear,
    /// From being issued to the end.
    pub device_time: LogLinear,
    /// Histograms by powers of two, times in the unit of the question.
    pub rows: Vec<(Measure, Pow2)>,
    /// By region of the device: a region's first block, and how many.
    pub regions: Vec<(u64, u64)>,
}
