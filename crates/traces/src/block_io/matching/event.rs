//! Events of block-device requests as a tracer records them, and the I/Os that are assembled from
//! them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Size of a block in bytes. Linux sectors and DTrace blocks always have this size, whatever the
/// sector size of the device.
pub const BLOCK_BYTES: u64 = 512;

/// Operation of an I/O.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Op {
    /// Moves data from the device.
    Read,
    /// Moves data to the device.
    Write,
    /// Releases blocks (TRIM). It counts neither as a read nor as a write, because its size is not
    /// data that moves.
    Discard,
    /// Flushes the device's write cache. It has neither size nor address.
    Flush,
    /// Any other operation: zone management, passed-through commands.
    Other,
    /// The trace does not record the operation.
    #[default]
    Unknown,
}

// Ordered by discriminant.
assay_model::names! {
    pub Op::name, ALL: Read = "read", Write = "write", Discard = "discard", Flush = "flush",
        Other = "other", Unknown = "not recorded"
}

impl Op {
    /// True if the operation moves data: a read, a write, or an operation that the trace does not
    /// record.
    #[inline]
    pub fn moves_data(self) -> bool {
        matches!(self, Op::Read | Op::Write | Op::Unknown)
    }
}

/// Source of an I/O's file name, which also says how certain the name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum FileFrom {
    /// The file is unknown.
    #[default]
    Nothing,
    /// The trace names the file without saying how it was found.
    Trace,
    /// The I/O was submitted through this open file: certain.
    Opened,
    /// The first page of the I/O belongs to this inode: certain, but if the inode has several hard
    /// links the name may be that of another link.
    Page,
    /// The blocks belonged to this file in a map of the file system taken at another time: likely.
    Blocks,
    /// The blocks are the file system's own (metadata, journal), not part of a user's file.
    Metadata,
    /// The device itself was opened as a file: certain.
    Device,
}

// Ordered by discriminant.
assay_model::names! {
    pub FileFrom::name, ALL: Nothing = "nothing", Trace = "trace", Opened = "opened", Page = "page",
        Blocks = "blocks", Metadata = "metadata", Device = "device"
}

/// Bit set of the kernel's hints for a request, and of facts about its submitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// REQ_SYNC: a hint to the scheduler. Somebody may be waiting for a request without it too.
    pub const SYNC: Flags = Flags(1);
    /// REQ_RAHEAD: read-ahead. Somebody may be waiting for it nonetheless.
    pub const READAHEAD: Flags = Flags(2);
    /// REQ_PREFLUSH: the device flushes its cache before the write.
    pub const PREFLUSH: Flags = Flags(4);
    /// REQ_FUA: the write bypasses the device's cache.
    pub const FUA: Flags = Flags(8);
    /// REQ_META: the request moves file-system metadata.
    pub const META: Flags = Flags(16);
    /// Submitted asynchronously (`io_submit`, io_uring).
    pub const AIO: Flags = Flags(32);
    /// Submitted by a kernel thread that writes back dirty pages.
    pub const KERNEL: Flags = Flags(64);

    /// True if all of `flags` are set.
    pub fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Returns the union of both sets.
    #[must_use]
    pub fn with(self, flags: Flags) -> Flags {
        Flags(self.0 | flags.0)
    }

    /// Returns the set with `flags` added if `on`, else unchanged.
    #[must_use]
    pub fn with_if(self, on: bool, flags: Flags) -> Flags {
        if on { self.with(flags) } else { self }
    }
}

/// Parses a request's operation and flags in the kernel's notation (`blk_fill_rwbs`): an optional
/// `F` for a flush before the request, a letter for the operation, then `F` (FUA), `A`, `S` and
/// `M`. Returns `None` for any other text.
pub fn parse_rwbs(word: &[u8]) -> Option<(Op, Flags)> {
    if word.is_empty() || word.len() > 10 {
        return None;
    }
    let preflush = word[0] == b'F' && word.len() > 1;
    let rest = if preflush { &word[1..] } else { word };
    let op = match rest[0] {
        b'R' => Op::Read,
        b'W' => Op::Write,
        b'D' => Op::Discard,
        b'F' => Op::Flush,
        // blkparse writes a flush without data as `FN`, or as `F` and modifiers alone.
        b'N' | b'S' | b'M' | b'A' if preflush => Op::Flush,
        b'N' | b'Z' => Op::Other,
        _ => return None,
    };
    let mut flags = Flags::default().with_if(preflush, Flags::PREFLUSH);
    for letter in rest {
        flags = match letter {
            b'S' => flags.with(Flags::SYNC),
            b'A' => flags.with(Flags::READAHEAD),
            b'M' => flags.with(Flags::META),
            b'F' if op != Op::Flush => flags.with(Flags::FUA),
            b'A'..=b'Z' => flags,
            _ => return None,
        };
    }
    Some((op, flags))
}

/// Step in the life of a bio or request, with blktrace's letter and the kernel's tracepoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoAction {
    /// A bio entered the block layer (Q, `block_bio_queue`).
    Queue,
    /// A request was made from a bio (G, `block_io_start`).
    Start,
    /// The request entered the scheduler (I, `block_rq_insert`).
    Insert,
    /// A bio was merged into the end of a request (M, `block_bio_backmerge`).
    BackMerge,
    /// A bio was merged into the front of a request (F, `block_bio_frontmerge`).
    FrontMerge,
    /// A bio was split in two; the second part begins at `other_sector` (X, `block_split`).
    Split,
    /// The request was issued to the driver (D, `block_rq_issue`).
    Issue,
    /// The driver returned the request without completing it (R, `block_rq_requeue`).
    Requeue,
    /// The request or bio completed (C, `block_rq_complete`, `block_bio_complete`).
    Complete,
    /// The request completed and was accounted (`block_io_done`). Follows `Complete` where both are
    /// traced.
    Done,
}

/// One event of a trace. Devices, programs and cgroups are ids of [`crate::block_io::NameTable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    pub action: IoAction,
    /// Time in nanoseconds of the trace's clock.
    pub time_ns: u64,
    pub device: u32,
    /// First block, in units of [`BLOCK_BYTES`].
    pub sector: u64,
    pub bytes: u64,
    pub op: Op,
    pub flags: Flags,
    /// Process that was running when the event occurred; `None` if not recorded.
    pub pid: Option<u32>,
    /// Name of that process; [`crate::block_io::NameTable::NONE`] if not recorded.
    pub program: u32,
    /// Control group of that process; [`crate::block_io::NameTable::NONE`] if not recorded.
    pub cgroup: u32,
    /// For a split, the first block of the second part; else 0.
    pub other_sector: u64,
}

// `Default` sets name ids to 0, so 0 must mean "not recorded".
const _: () = assert!(crate::block_io::NameTable::NONE == 0);

/// One I/O with everything known about it when it completes, or when the trace has no more events
/// of it. In the default value every field is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Io {
    /// Number in the order in which I/Os started, from 0.
    pub serial: u64,
    /// Start in nanoseconds of the trace's clock: when the I/O was issued to the driver or, on
    /// devices that only pass bios on, queued.
    pub start_ns: u64,
    /// Time from the first traced event to completion, in nanoseconds; `None` if the I/O did not
    /// complete within the trace or the format does not record it.
    pub latency_ns: Option<u64>,
    /// Time from queueing to issue, in nanoseconds; `None` if not recorded.
    pub queue_ns: Option<u64>,
    /// Time from issue to completion, in nanoseconds; `None` if not recorded or not completed.
    pub device_ns: Option<u64>,
    pub device: u32,
    /// First block, in units of [`BLOCK_BYTES`].
    pub sector: u64,
    pub bytes: u64,
    pub op: Op,
    pub flags: Flags,
    /// Process that submitted the I/O; `None` if not recorded.
    pub pid: Option<u32>,
    /// Program that submitted the I/O; [`crate::block_io::NameTable::NONE`] if not recorded.
    pub program: u32,
    /// File that the blocks belong to; [`crate::block_io::NameTable::NONE`] if not recorded.
    pub file: u32,
    /// Evidence for the name in `file`.
    pub file_from: FileFrom,
    /// Control group that submitted the I/O; [`crate::block_io::NameTable::NONE`] if not recorded.
    pub cgroup: u32,
}

impl Io {
    /// Returns the completion time in nanoseconds of the trace's clock, if known.
    #[inline]
    pub fn end_ns(&self) -> Option<u64> {
        match (self.device_ns, self.latency_ns) {
            (Some(device), _) => Some(self.start_ns.saturating_add(device)),
            (None, Some(whole)) => Some(self.start_ns.saturating_add(whole)),
            (None, None) => None,
        }
    }

    /// Returns the block after the last one.
    #[inline]
    pub fn end_sector(&self) -> u64 {
        self.sector.saturating_add(self.bytes.div_ceil(BLOCK_BYTES))
    }

    /// True for a write without REQ_SYNC whose program is a kernel thread or is not recorded.
    #[inline]
    pub fn is_writeback(&self) -> bool {
        (self.op == Op::Write)
            & !self.flags.has(Flags::SYNC)
            & ((self.program == crate::block_io::NameTable::NONE) | self.flags.has(Flags::KERNEL))
    }
}

/// Consumer of I/Os. A matcher or a reader passes it each I/O twice: once in the order of starts
/// and once in the order of ends.
pub trait Sink {
    /// Receives an I/O that has started; its latencies are not known yet.
    fn start(&mut self, io: &Io);

    /// Receives an I/O that has completed, or one without latencies if the trace has no more events
    /// of it. Called once for every I/O.
    fn end(&mut self, io: &Io);

    /// Receives an I/O whose start and end are recorded in one event.
    #[inline]
    fn whole(&mut self, io: &Io) {
        self.start(io);
        self.end(io);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_kernel_and_of_blkparse() {
        let read = |w: &str| parse_rwbs(w.as_bytes());
        assert_eq!(read("R"), Some((Op::Read, Flags::default())));
        assert_eq!(read("RA"), Some((Op::Read, Flags::READAHEAD)));
        assert_eq!(read("WS"), Some((Op::Write, Flags::SYNC)));
        let journal = Flags::PREFLUSH.with(Flags::FUA).with(Flags::SYNC).with(Flags::META);
        assert_eq!(read("FWFSM"), Some((Op::Write, journal)));
        assert_eq!(read("FF").unwrap().0, Op::Flush);
        assert_eq!(read("FN").unwrap().0, Op::Flush);
        assert_eq!(read("DE").unwrap().0, Op::Discard);
        assert_eq!(read("N").unwrap().0, Op::Other);
        for wrong in ["", "+", "r", "8,0", "RWRWRWRWRWRW", "R("] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
