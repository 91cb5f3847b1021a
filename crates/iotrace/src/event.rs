//! What happens to a request of a block device: single events as a tracer sees them, and the whole
//! I/O that matching makes of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes of a block: sectors of Linux and blocks of DTrace are always this long, whatever the device's
/// own.
pub const BLOCK_BYTES: u64 = 512;

/// What an I/O does.
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
    /// Gives blocks back. Neither a read nor a write: its size is not data that moves.
    Discard,
    /// Empties the device's own cache. Has neither size nor address.
    Flush,
    /// Anything else (zone management, passed-through commands).
    Other,
    /// Not recorded: a read, a write, or something else.
    #[default]
    Unknown,
}

impl Op {
    /// Every one, in the order of their numbers.
    pub const ALL: [Op; 6] = [Op::Read, Op::Write, Op::Discard, Op::Flush, Op::Other, Op::Unknown];

    /// Whether it moves data: a read or a write, or one of which it is not recorded.
    #[inline]
    pub fn moves_data(self) -> bool {
        matches!(self, Op::Read | Op::Write | Op::Unknown)
    }

    /// Its name as written.
    pub fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Discard => "discard",
            Op::Flush => "flush",
            Op::Other => "other",
            Op::Unknown => "not recorded",
        }
    }
}

/// How the file of an I/O is known, and with that how sure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum FileFrom {
    /// It is not known.
    #[default]
    Nothing,
    /// The trace names it and does not say how it knows.
    Trace,
    /// The open file that the I/O was submitted through: sure.
    Opened,
    /// The inode that the first page of the I/O belongs to: sure, but of several hard links the name
    /// may be another's.
    Page,
    /// The file that the blocks belong to by the file system's map at another moment: likely.
    Blocks,
    /// The file system's own blocks (metadata, journal): no file of a person's.
    Metadata,
    /// The device itself was opened as a file: sure.
    Device,
}

impl FileFrom {
    /// Every one, in the order of their numbers.
    pub const ALL: [FileFrom; 7] = [
        FileFrom::Nothing,
        FileFrom::Trace,
        FileFrom::Opened,
        FileFrom::Page,
        FileFrom::Blocks,
        FileFrom::Metadata,
        FileFrom::Device,
    ];

    /// Its name as written.
    pub fn name(self) -> &'static str {
        match self {
            FileFrom::Nothing => "nothing",
            FileFrom::Trace => "trace",
            FileFrom::Opened => "opened",
            FileFrom::Page => "page",
            FileFrom::Blocks => "blocks",
            FileFrom::Metadata => "metadata",
            FileFrom::Device => "device",
        }
    }
}

/// Hints that the kernel keeps with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// REQ_SYNC: a hint to the scheduler. Its absence is not the same as nobody waiting.
    pub const SYNC: Flags = Flags(1);
    /// REQ_RAHEAD: read ahead of need. Somebody may be waiting all the same.
    pub const READAHEAD: Flags = Flags(2);
    /// REQ_PREFLUSH: the device's cache is emptied first.
    pub const PREFLUSH: Flags = Flags(4);
    /// REQ_FUA: past the device's cache.
    pub const FUA: Flags = Flags(8);
    /// REQ_META: metadata of a file system.
    pub const META: Flags = Flags(16);
    /// Submitted asynchronously (`io_submit`, io_uring).
    pub const AIO: Flags = Flags(32);
    /// The program is a kernel thread that writes back.
    pub const KERNEL: Flags = Flags(64);

    /// Whether all of `flags` are set.
    pub fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Both together.
    #[must_use]
    pub fn with(self, flags: Flags) -> Flags {
        Flags(self.0 | flags.0)
    }

    /// `flags` set when `on`, else as it was.
    #[must_use]
    pub fn with_if(self, on: bool, flags: Flags) -> Flags {
        if on { self.with(flags) } else { self }
    }
}

/// A request's operation and flags as the kernel writes them (`blk_fill_rwbs`): an `F` in front for a
/// flush before, a letter for the operation, then `F`, `A`, `S`, `M`. `None` for what is not such a word.
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

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A bio was handed to the block layer (Q, `block_bio_queue`).
    Queue,
    /// A request was made of it (G, `block_io_start`).
    Start,
    /// The request went into the scheduler (I, `block_rq_insert`).
    Insert,
    /// A bio was joined to the end of a request (M, `block_bio_backmerge`).
    BackMerge,
    /// A bio was joined to the front of a request (F, `block_bio_frontmerge`).
    FrontMerge,
    /// A bio was cut in two; the second begins at `other_sector` (X, `block_split`).
    Split,
    /// The request went to the driver (D, `block_rq_issue`).
    Issue,
    /// The driver gave it back undone (R, `block_rq_requeue`).
    Requeue,
    /// It is done (C, `block_rq_complete`, `block_bio_complete`).
    Complete,
    /// It is done and accounted for (`block_io_done`), reported after `Complete` where both are
    /// traced.
    Done,
}

/// One event of a trace. Names are ids of [`crate::Names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub action: Action,
    /// When, nanoseconds of the trace's clock.
    pub time_ns: u64,
    /// The device.
    pub device: u32,
    /// The first block.
    pub sector: u64,
    /// How many bytes.
    pub bytes: u64,
    /// What the request does.
    pub op: Op,
    /// Its flags.
    pub flags: Flags,
    /// The process that was running then; `None`: not recorded.
    pub pid: Option<u32>,
    /// Its name; [`crate::Names::NONE`]: not recorded.
    pub program: u32,
    /// Its control group; [`crate::Names::NONE`]: not recorded.
    pub cgroup: u32,
    /// Of a split, where the second part begins; else 0.
    pub other_sector: u64,
}

// Ids of names are 0 by default.
const _: () = assert!(crate::Names::NONE == 0);

/// One I/O: what is known of a request when it is done, or when no more events of it will come. By default nothing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Io {
    /// Its place in the order in which I/Os started, from 0.
    pub serial: u64,
    /// When it started, nanoseconds of the trace's clock: issued to the driver, or (devices that only
    /// pass bios on) queued.
    pub start_ns: u64,
    /// From the first moment that was traced to its end; `None`: it did not end within the trace, or
    /// the format does not record it.
    pub latency_ns: Option<u64>,
    /// From being queued to being issued; `None`: not recorded.
    pub queue_ns: Option<u64>,
    /// From being issued to its end; `None`: not recorded, or not ended.
    pub device_ns: Option<u64>,
    /// The device.
    pub device: u32,
    /// The first block.
    pub sector: u64,
    /// How many bytes.
    pub bytes: u64,
    /// What it does.
    pub op: Op,
    /// Its flags.
    pub flags: Flags,
    /// The process that asked for it; `None`: not recorded.
    pub pid: Option<u32>,
    /// The program that asked for it; [`crate::Names::NONE`]: not recorded.
    pub program: u32,
    /// The file it belongs to; [`crate::Names::NONE`]: not recorded.
    pub file: u32,
    /// How that file is known.
    pub file_from: FileFrom,
    /// The control group that asked for it; [`crate::Names::NONE`]: not recorded.
    pub cgroup: u32,
}

impl Io {
    /// When it ended, if it is known.
    #[inline]
    pub fn end_ns(&self) -> Option<u64> {
        match (self.device_ns, self.latency_ns) {
            (Some(device), _) => Some(self.start_ns.saturating_add(device)),
            (None, Some(whole)) => Some(self.start_ns.saturating_add(whole)),
            (None, None) => None,
        }
    }

    /// The block after its last one.
    #[inline]
    pub fn end_sector(&self) -> u64 {
        self.sector.saturating_add(self.bytes.div_ceil(BLOCK_BYTES))
    }

    /// A write without REQ_SYNC whose program is a kernel thread, or is not recorded.
    #[inline]
    pub fn is_writeback(&self) -> bool {
        (self.op == Op::Write)
            & !self.flags.has(Flags::SYNC)
            & ((self.program == crate::Names::NONE) | self.flags.has(Flags::KERNEL))
    }
}

/// What takes I/Os: a matcher or a reader gives each of them twice, in the order in which they start
/// and in the order in which they end.
pub trait Sink {
    /// An I/O has started; its latencies are not known yet.
    fn start(&mut self, io: &Io);

    /// An I/O that started has ended, or no more events of it will come (then without latencies).
    /// Called once for every I/O.
    fn end(&mut self, io: &Io);

    /// An I/O whose first event gives all: started and ended.
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
