//! What the probes in `bpf/` and this loader share: the layouts of `bpf/io.h`.
#![allow(unsafe_code)]

use aya::Pod;

/// Bytes of a program's name.
pub(super) const COMM: usize = 16;
/// The most devices that a filter names.
pub(super) const MAX_DEVICES: usize = 16;
/// The most programs, processes and control groups that a filter names, each.
pub(super) const MAX_NAMES: usize = 8;
/// Log-linear buckets.
pub(super) const FINE: usize = 1152;
/// Rows of powers of two.
pub(super) const ROWS: usize = 65;
/// Regions of a device.
pub(super) const REGIONS: usize = 1024;
/// Parts of a path.
const PARTS: usize = 12;
/// Bytes of a part.
const PART: usize = 64;

/// The configuration of the probes, set before they are loaded. With all fields 0 they take nothing: start from
/// [`Config::taking_all`].
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Config {
    pub unit_ns: u64,
    pub iomap_end_io: u64,
    pub first_block: u64,
    pub last_block: u64,
    pub cgroups: [u64; MAX_NAMES],
    pub devices: [u32; MAX_DEVICES],
    pub pids: [u32; MAX_NAMES],
    pub programs: [[u8; COMM]; MAX_NAMES],
    pub n_cgroups: u32,
    pub n_devices: u32,
    pub n_pids: u32,
    pub n_programs: u32,
    pub groups: u32,
    pub sys_io_submit: u32,
    pub sys_io_uring_enter: u32,
    pub flags: u32,
    pub tracked: u8,
    pub events: u8,
    pub by_program: u8,
    pub by_pid: u8,
    pub by_cgroup: u8,
    pub by_file: u8,
    pub rows: u8,
    pub regions: u8,
    pub only_reads: u8,
    pub only_writes: u8,
    pub queue_before_request: u8,
    pub queue_before_bio: u8,
    pub issue: u8,
    pub waits: u8,
    pub pad: [u8; 2],
}

impl Config {
    /// The configuration of probes that take every I/O and do nothing besides.
    pub fn taking_all() -> Self {
        Config {
            unit_ns: 1,
            last_block: u64::MAX,
            sys_io_submit: libc::SYS_io_submit as u32,
            sys_io_uring_enter: libc::SYS_io_uring_enter as u32,
            flags: u32::MAX,
            ..Config::default()
        }
    }
}

/// What groups are told apart by.
#[repr(C)]
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub cgroup: u64,
    pub ino: u64,
    pub dev: u32,
    pub op: u8,
    /// How sure the file is.
    pub sure: u8,
    /// Whether it is metadata, where files are told apart.
    pub metadata: u8,
    pub pad: u8,
    pub tgid: u32,
    pub file_dev: u32,
    pub comm: [u8; COMM],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub n: u64,
    pub sum: u64,
    pub least: u64,
    pub greatest: u64,
}

/// The counts of one group on one CPU.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub ios: u64,
    pub bytes: u64,
    pub aio: u64,
    pub writeback: u64,
    pub readahead: u64,
    pub nosync: u64,
    pub times: [Times; 3],
    pub fine: [[u32; FINE]; 3],
    pub rows: [[u32; ROWS]; 4],
    pub pad: [u32; 4],
}

/// The regions of one group on one CPU.
pub(super) type RegionCounts = [u32; REGIONS];

/// One I/O that ended.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct RingEvent {
    pub start_ns: u64,
    pub issue_ns: u64,
    pub end_ns: u64,
    pub sector: u64,
    pub cgroup: u64,
    pub ino: u64,
    pub bytes: u32,
    pub dev: u32,
    pub tgid: u32,
    pub file_dev: u32,
    pub op: u8,
    pub flags: u8,
    pub sure: u8,
    pub known: u8,
    pub pad: u32,
    pub comm: [u8; COMM],
}

/// One I/O under way.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct UnderWay {
    /// The address of its request; 0: there is none.
    pub id: u64,
    pub issue_ns: u64,
    pub sector: u64,
    pub cgroup: u64,
    pub ino: u64,
    pub bytes: u32,
    pub tgid: u32,
    pub file_dev: u32,
    pub flags: u8,
    pub sure: u8,
    pub left_out: u8,
    pub op: u8,
    pub dev: u32,
    pub claims: u32,
    pub start_ns: u64,
    pub comm: [u8; COMM],
}

/// In how many sets those under way are found.
pub(super) const SETS: u32 = 1 << 14;

/// The places of a set.
pub(super) type Set = [UnderWay; 4];

/// Places in the array of counts.
pub(super) const COUNTS: usize = 21;

/// How often what happened.
pub(super) type Counts = [u64; COUNTS];

/// Words of the groups that a CPU met last.
const CACHE: usize = 128 * 7;

/// What is each CPU's own.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Own {
    pub counts: Counts,
    pub cache: [u64; CACHE],
}

/// The path of a file, the last part first.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct PathRecord {
    pub ino: u64,
    pub file_dev: u32,
    pub parts: u32,
    pub part: [[u8; PART]; PARTS],
}

// The same numbers stand in bpf/io.h.
const _: () = assert!(size_of::<Config>() == 368);
const _: () = assert!(size_of::<Key>() == 48);
const _: () = assert!(size_of::<Cell>() == 15024);
const _: () = assert!(size_of::<RingEvent>() == 88);
const _: () = assert!(size_of::<PathRecord>() == 784);
const _: () = assert!(size_of::<UnderWay>() == 88);
const _: () = assert!(size_of::<Own>() == 7336);

// SAFETY: whole numbers and arrays of them in C layout without padding (the pads are fields), so every
// pattern of bits is a value.
unsafe impl Pod for Config {}
// SAFETY: as above.
unsafe impl Pod for Key {}
// SAFETY: as above.
unsafe impl Pod for Cell {}
// SAFETY: as above.
unsafe impl Pod for RingEvent {}
// SAFETY: as above.
unsafe impl Pod for PathRecord {}
// SAFETY: as above.
unsafe impl Pod for UnderWay {}
// SAFETY: as above.
unsafe impl Pod for Own {}

/// Places in the array of counts.
pub(super) mod count {
    pub const STARTS: usize = 0;
    pub const ENDS: usize = 1;
    pub const UNMATCHED: usize = 2;
    pub const FLUSH_ENDS: usize = 3;
    pub const TABLE_FULL: usize = 4;
    pub const RING_FULL: usize = 5;
    pub const BACKWARDS: usize = 6;
    pub const NO_ISSUE: usize = 7;
    pub const PARTIAL: usize = 9;
    pub const UNTOLD: usize = 10;
    pub const REQUEUED: usize = 11;
    pub const FLUSHES: usize = 12;
    pub const MERGED: usize = 13;
    pub const BEFORE: usize = 14;
    pub const LEFT_OUT: usize = 15;
    pub const FILE: usize = 16;
}

/// How sure a file is, as the probes say it.
pub(super) mod sure {
    pub const OPEN: u8 = 1;
    pub const PAGE: u8 = 2;
    pub const PAGE_ABOVE: u8 = 3;
    pub const DEVICE: u8 = 4;
}
